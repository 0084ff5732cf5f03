#include "fault/history.hpp"

#include <fstream>
#include <stdexcept>

namespace fault {

using nlohmann::json;
using support::Payment;

Micros now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string Seen::problem() const {
  if (content_type != "application/problem+json") return "";
  const json parsed = json::parse(body, nullptr, false);
  if (!parsed.is_object()) return "";
  const std::string type = parsed.value("type", "");
  return type.substr(type.rfind('/') + 1);
}

void Recorder::add(Call call) {
  const std::lock_guard lock(mutex_);
  history_.calls.push_back(std::move(call));
}

void Recorder::add(Disturbance disturbance) {
  const std::lock_guard lock(mutex_);
  history_.disturbances.push_back(std::move(disturbance));
}

std::size_t Recorder::calls() const {
  const std::lock_guard lock(mutex_);
  return history_.calls.size();
}

History Recorder::finish(Books books) {
  const std::lock_guard lock(mutex_);
  history_.books = std::move(books);
  return std::exchange(history_, History{});
}

namespace {

json to_json(const Payment& payment) {
  return {{"amount", payment.amount},
          {"currency", payment.currency},
          {"source", payment.source},
          {"destination", payment.destination}};
}

Payment payment_in(const json& line) {
  const json& payment = line.at("payment");
  return {payment.at("amount"), payment.at("currency"), payment.at("source"),
          payment.at("destination")};
}

json to_json(const Seen& seen) {
  return {{"status", seen.status},     {"content_type", seen.content_type},
          {"location", seen.location}, {"body", seen.body},
          {"replayed", seen.replayed}, {"retry_after_s", seen.retry_after_s}};
}

Seen seen_in(const json& line) {
  return {line.at("status"), line.at("content_type"), line.at("location"),
          line.at("body"),   line.at("replayed"),     line.at("retry_after_s")};
}

json to_json(const Call& call) {
  json line{
      {"call", call.client},       {"key", call.key},         {"payment", to_json(call.payment)},
      {"instance", call.instance}, {"sent_us", call.sent_us}, {"received_us", call.received_us}};
  if (call.seen) {
    line["seen"] = to_json(*call.seen);
  } else {
    line["failure"] = call.failure;
  }
  return line;
}

Call call_in(const json& line) {
  Call call{line.at("call"),     line.at("key"),           payment_in(line),
            line.at("instance"), line.at("sent_us"),       line.at("received_us"),
            std::nullopt,        line.value("failure", "")};
  if (line.contains("seen")) call.seen = seen_in(line.at("seen"));
  return call;
}

json to_json(const BookedAccount& account) {
  json line{{"account", account.id}, {"currency", account.currency}, {"balance", account.balance}};
  if (account.overdraft_limit) line["overdraft_limit"] = *account.overdraft_limit;
  return line;
}

BookedAccount account_in(const json& line) {
  BookedAccount account{line.at("account"), line.at("currency"), line.at("balance"), std::nullopt};
  if (line.contains("overdraft_limit")) account.overdraft_limit = line.at("overdraft_limit");
  return account;
}

json to_json(const BookedPayment& booked) {
  return {{"booked", booked.id},
          {"key", booked.key},
          {"status", booked.status},
          {"decline_reason", booked.decline_reason},
          {"payment", to_json(booked.payment)},
          {"committed_us", booked.committed_us}};
}

BookedPayment booked_in(const json& line) {
  return {line.at("booked"),         line.at("key"),   line.at("status"),
          line.at("decline_reason"), payment_in(line), line.at("committed_us")};
}

void read_line(const json& line, History& history) {
  if (line.contains("call")) {
    history.calls.push_back(call_in(line));
  } else if (line.contains("disturbance")) {
    history.disturbances.push_back({line.at("disturbance"), line.at("from_us"), line.at("to_us")});
  } else if (line.contains("booked")) {
    history.books.payments.push_back(booked_in(line));
  } else if (line.contains("stored")) {
    history.books.answers.push_back(
        {line.at("stored"), line.at("payment_id"), seen_in(line.at("answer"))});
  } else if (line.contains("account")) {
    history.books.accounts.push_back(account_in(line));
  } else if (line.contains("seed")) {
    history.seed = line.at("seed");
    history.books.verify = line.at("verify");
  } else {
    throw std::runtime_error("a line that is no part of a history: " + line.dump());
  }
}

}  // namespace

void save(const History& history, const std::filesystem::path& file) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream out(file);
  const auto write = [&out](const json& line) { out << line.dump() << '\n'; };
  write({{"seed", history.seed}, {"verify", history.books.verify}});
  for (const Disturbance& one : history.disturbances) {
    write({{"disturbance", one.what}, {"from_us", one.from_us}, {"to_us", one.to_us}});
  }
  for (const Call& call : history.calls) write(to_json(call));
  for (const BookedAccount& account : history.books.accounts) write(to_json(account));
  for (const BookedPayment& booked : history.books.payments) write(to_json(booked));
  for (const StoredAnswer& stored : history.books.answers) {
    write({{"stored", stored.key},
           {"payment_id", stored.payment_id},
           {"answer", to_json(stored.answer)}});
  }
  out.flush();
  if (!out) throw std::runtime_error("cannot write " + file.string());
}

History load(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  History history;
  for (std::string line; std::getline(in, line);) read_line(json::parse(line), history);
  return history;
}

Books read_books(support::Database& database, const std::string& tenant_id) {
  const auto text = [](const support::Row& row, std::size_t at) { return row.at(at).value_or(""); };
  const auto number = [](const support::Row& row, std::size_t at) {
    return static_cast<std::int64_t>(std::stoll(row.at(at).value()));
  };
  Books books;
  support::Sql& sql = database.sql();
  for (const auto& row :
       sql.rows("SELECT p.id, p.idempotency_key, p.status, p.decline_reason, p.amount, p.currency,"
                " p.source, p.destination,"
                " (extract(epoch FROM pg_xact_commit_timestamp(p.xmin)) * 1000000)::bigint AS at"
                " FROM payments AS p LEFT JOIN transfers AS t"
                " ON t.tenant_id = p.tenant_id AND t.payment_id = p.id"
                " WHERE p.tenant_id = $1 ORDER BY at, t.id, p.id",
                {tenant_id})) {
    books.payments.push_back({text(row, 0), text(row, 1), text(row, 2), text(row, 3),
                              Payment{number(row, 4), text(row, 5), text(row, 6), text(row, 7)},
                              number(row, 8)});
  }
  for (const auto& row : sql.rows(
           "SELECT key, resource_id, answer_status, answer_content_type, answer_location,"
           " convert_from(answer_body, 'UTF8') FROM idempotency_keys"
           " WHERE tenant_id = $1 AND status = 'completed' AND resource_id NOT LIKE 'accounts/%'",
           {tenant_id})) {
    Seen answer{
        static_cast<int>(number(row, 2)), text(row, 3), text(row, 4), text(row, 5), false, 0};
    books.answers.push_back({text(row, 0), text(row, 1), std::move(answer)});
  }
  for (const auto& row : sql.rows("SELECT id, currency, balance, overdraft_limit FROM accounts"
                                  " WHERE tenant_id = $1 ORDER BY id",
                                  {tenant_id})) {
    BookedAccount account{text(row, 0), text(row, 1), number(row, 2), std::nullopt};
    if (row.at(3)) account.overdraft_limit = number(row, 3);
    books.accounts.push_back(std::move(account));
  }
  books.verify = support::broken_books(database);
  return books;
}

}  // namespace fault
