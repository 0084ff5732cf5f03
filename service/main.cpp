#include "cli/command_line.hpp"

int main(int argc, char** argv) { return oncepay::cli::run(argc, argv); }
