// The main of a fuzz target in ordinary builds: runs it over each file of its corpus, once.
// So that a finding which was kept in the corpus is tried again by every test run, without clang.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <ios>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  int inputs = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::vector<char> bytes(entry.file_size());
      std::ifstream file(entry.path(), std::ios::binary);
      file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++inputs;
    }
  }
  std::printf("%d inputs\n", inputs);
  return inputs > 0 ? 0 : 1;  // a corpus that is not found must not pass
}
