// Lists of payments, page by page, on books written by hand: there an id may be out of the order of
// the balances, as clocks of several instances can make it.
#include "payments/books.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/database.hpp"

namespace oncepay::payments {

namespace {

using Ids = std::vector<std::string>;

// "…07" for 7: the larger the number, the younger the id.
std::string id_of(int number) {
  return "0197f3c2-0000-7000-8000-0000000000" + std::string(number < 10 ? "0" : "") +
         std::to_string(number);
}

class Books {
 public:
  Books() : connection_(settings_of(database_)) {
    tenant_ = database_.sql().text(
        "INSERT INTO tenants (id, name) VALUES (gen_random_uuid(), 'one') RETURNING id");
  }

  void write_succeeded(int number, const std::string& source, const std::string& destination) {
    write(number, "succeeded", source, destination);
    database_.sql().run(
        "INSERT INTO transfers (tenant_id, payment_id, debit_account, credit_account, amount, "
        "currency, debit_balance_after, credit_balance_after, created_at) "
        "VALUES ($1, $2, $3, $4, 1, 'EUR', 0, 0, now())",
        {tenant_, id_of(number), source, destination});
  }
  void write_declined(int number, const std::string& source, const std::string& destination) {
    write(number, "declined", source, destination);
  }

  // All pages of a list, each with `limit` payments, and what is written between two of them.
  template <class Between>
  Ids pages(PaymentFilter filter, int limit, Between between) {
    filter.limit = limit;
    Ids ids;
    for (;;) {
      db::Transaction transaction(connection_, db::Access::snapshot);
      const auto page = list_payments(transaction, tenant_, filter);
      REQUIRE(page.size() <= static_cast<std::size_t>(limit));
      if (page.empty()) return ids;
      for (const auto& listed : page) ids.push_back(listed.payment.id);
      filter.position = page.back().position;
      between();
    }
  }
  Ids pages(const PaymentFilter& filter, int limit) {
    return pages(filter, limit, [] {});
  }

 private:
  void write(int number, const std::string& status, const std::string& source,
             const std::string& destination) {
    database_.sql().run(
        "INSERT INTO payments (tenant_id, id, idempotency_key, status, decline_reason, amount, "
        "currency, source, destination, metadata, created_at) "
        "VALUES ($1, $2::uuid, $2::text, $3::text, "
        "CASE $3 WHEN 'declined' THEN 'insufficient-funds' END, 1, 'EUR', $4, $5, '{}', now())",
        {tenant_, id_of(number), status, source, destination});
  }

  static db::ConnectionSettings settings_of(const support::Database& database) {
    db::ConnectionSettings settings;
    settings.url = database.url();
    return settings;
  }

  support::Database database_;
  db::Connection connection_;
  std::string tenant_;
};

Ids ids_of(std::initializer_list<int> numbers) {
  Ids ids;
  for (const int number : numbers) ids.push_back(id_of(number));
  return ids;
}

PaymentFilter filter_of(const std::string& account,
                        std::optional<PaymentStatus> status = std::nullopt) {
  PaymentFilter filter;
  filter.account = account;
  filter.status = status;
  return filter;
}

}  // namespace

TEST_CASE("an account's payments come newest first from both sides, whatever became of them") {
  Books books;
  books.write_succeeded(1, "a", "b");
  books.write_declined(2, "a", "b");
  books.write_succeeded(3, "b", "a");
  books.write_succeeded(4, "b", "c");
  books.write_declined(5, "c", "a");
  books.write_declined(6, "b", "c");
  books.write_succeeded(7, "a", "c");
  for (const int limit : {1, 2, 3, 4, 5, 100}) {
    CAPTURE(limit);
    CHECK(books.pages(filter_of("a"), limit) == ids_of({7, 5, 3, 2, 1}));
    CHECK(books.pages(filter_of("a", PaymentStatus::succeeded), limit) == ids_of({7, 3, 1}));
    CHECK(books.pages(filter_of("a", PaymentStatus::declined), limit) == ids_of({5, 2}));
    CHECK(books.pages(filter_of("b", PaymentStatus::declined), limit) == ids_of({6, 2}));
    CHECK(books.pages(filter_of("nobody"), limit).empty());
    CHECK(books.pages(PaymentFilter{}, limit) == ids_of({7, 6, 5, 4, 3, 2, 1}));
  }
}

TEST_CASE("no page leaves a payment out or shows one again where ids are out of order") {
  Books books;
  // In the order of the balances; the ids of a slow clock and of a fast one take turns.
  for (const int number : {30, 1, 31, 2, 32, 3}) books.write_succeeded(number, "a", "b");
  for (const int number : {10, 29, 33}) books.write_declined(number, "a", "b");
  for (const int limit : {1, 2, 3, 4, 100}) {
    CAPTURE(limit);
    CHECK(books.pages(filter_of("b"), limit) == ids_of({33, 29, 10, 3, 32, 2, 31, 1, 30}));
    CHECK(books.pages(filter_of("b", PaymentStatus::succeeded), limit) ==
          ids_of({3, 32, 2, 31, 1, 30}));
  }
}

TEST_CASE("an account's pages stay where they were while payments arrive") {
  for (const bool declined_first : {false, true}) {
    CAPTURE(declined_first);
    Books books;
    const auto succeed = [&](int number) { books.write_succeeded(number, "a", "b"); };
    const auto decline = [&](int number) { books.write_declined(number, "b", "a"); };
    for (const int number : {1, 2, 3}) declined_first ? succeed(number) : decline(number);
    for (const int number : {4, 5, 6}) declined_first ? decline(number) : succeed(number);
    int next = 7;
    const auto pay = [&] {
      succeed(next++);
      decline(next++);
    };
    CHECK(books.pages(filter_of("a"), 2, pay) == ids_of({6, 5, 4, 3, 2, 1}));
    CHECK(next > 10);
  }
  Books books;
  for (const int number : {1, 2}) books.write_declined(number, "a", "b");
  int next = 3;
  const auto pay = [&] { books.write_succeeded(next++, "a", "b"); };
  CHECK(books.pages(filter_of("a"), 1, pay) == ids_of({2, 1}));
}

}  // namespace oncepay::payments
