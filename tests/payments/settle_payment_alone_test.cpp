// The one statement that decides outside the ledger: it must move money exactly when the ledger
// would, with the same balances.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

#include "once/plain_answers.hpp"
#include "payments/ledger.hpp"
#include "payments/requests.hpp"
#include "support/database.hpp"

namespace oncepay::payments {

namespace {

constexpr int rounds = 3'000;
constexpr std::uint32_t seed = 20'261'130;
constexpr std::size_t places[] = {0, 1};

using Random = std::mt19937;

std::int64_t pick(Random& random, std::int64_t from, std::int64_t to) {
  return std::uniform_int_distribution<std::int64_t>(from, to)(random);
}

// Mostly close to an edge: of the floor, of the range, or of the amount.
LedgerAccount pick_account(Random& random, std::int64_t amount) {
  LedgerAccount account{pick(random, 0, 9) == 0 ? "USD" : "EUR", 0, std::nullopt};
  const std::int64_t limits[] = {0, pick(random, 1, 500), amount_max};
  const auto limit = pick(random, 0, 3);
  if (limit < 3) account.overdraft_limit = limits[limit];
  const std::int64_t floor = account.overdraft_limit ? -*account.overdraft_limit : -amount_max;
  const std::int64_t near = pick(random, -2, 2);
  const std::int64_t balances[] = {floor, floor + amount + near, amount_max - amount + near,
                                   amount_max, pick(random, -50, 1'000)};
  account.balance = std::clamp(balances[pick(random, 0, 4)], floor, amount_max);
  return account;
}

class Books {
 public:
  Books() : connection_(settings_of(database_)) {
    tenant_ = database_.sql().text(
        "INSERT INTO tenants (id, name) VALUES (gen_random_uuid(), 'one') RETURNING id");
    for (const std::string& id : ids_) {
      database_.sql().run("INSERT INTO accounts (tenant_id, id, currency) VALUES ($1, $2, 'EUR')",
                          {tenant_, id});
    }
  }

  void set(std::size_t place, const LedgerAccount& account) {
    database_.sql().run(
        "UPDATE accounts SET currency = $3, balance = $4, overdraft_limit = NULLIF($5, '')::bigint "
        "WHERE tenant_id = $1 AND id = $2",
        {tenant_, ids_[place], account.currency, std::to_string(account.balance),
         account.overdraft_limit ? std::to_string(*account.overdraft_limit) : ""});
  }
  std::int64_t balance(std::size_t place) {
    return database_.sql().number("SELECT balance FROM accounts WHERE tenant_id = $1 AND id = $2",
                                  {tenant_, ids_[place]});
  }
  // "debit balance after, credit balance after" of the transfer that was made last.
  std::string last_transfer() {
    return database_.sql().text(
        "SELECT debit_balance_after || ', ' || credit_balance_after FROM transfers "
        "ORDER BY id DESC LIMIT 1");
  }
  std::int64_t rows() {
    return database_.sql().number(
        "SELECT (SELECT count(*) FROM payments) + (SELECT count(*) FROM transfers)");
  }

  // Whether it moved. A place after the last is an account that does not exist.
  bool pay(std::size_t source, std::size_t destination, std::int64_t amount,
           const std::string& currency) {
    PaymentRequest request;
    request.amount = amount;
    request.currency = currency;
    request.source = source < 2 ? ids_[source] : "nobody";
    request.destination = destination < 2 ? ids_[destination] : "nobody";
    const auto expected = executor_.expect(request, now_us);
    db::Transaction transaction(connection_, db::Access::read_write,
                                db::Begin::with_first_statement);
    auto call = executor_.settle_alone({tenant_, "key", request, &*expected}, now_us);
    transaction.defer(call->statement, std::move(call->params));
    try {
      transaction.commit();
      return true;
    } catch (const db::StatementError& error) {
      REQUIRE(error.sqlstate() == "22012");
      return false;
    }
  }

 private:
  static constexpr std::int64_t now_us = 1'764'460'800'000'000;
  static db::ConnectionSettings settings_of(const support::Database& database) {
    db::ConnectionSettings settings;
    settings.url = database.url();
    settings.plans = db::Plans::by_index;
    return settings;
  }

  support::Database database_;
  db::Connection connection_;
  std::string tenant_;
  const std::string ids_[2] = {"a", "b"};
  runtime::Metrics metrics_;
  PaymentExecutor executor_{test::plain_renderers(), metrics_};
};

}  // namespace

TEST_CASE("G5 a payment that is settled alone moves what the ledger would move, or nothing") {
  Books books;
  Random random(seed);
  int moved_count = 0;
  std::int64_t rows = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::int64_t amount =
        pick(random, 0, 5) == 0 ? amount_max - pick(random, 0, 2) : pick(random, 1, 300);
    const std::string currency = pick(random, 0, 19) == 0 ? "USD" : "EUR";
    std::vector<LedgerAccount> accounts{pick_account(random, amount), pick_account(random, amount)};
    const bool unknown = pick(random, 0, 19) == 0;
    auto source = static_cast<std::size_t>(pick(random, 0, 1));
    std::size_t destination = 1 - source;
    if (unknown) (pick(random, 0, 1) == 0 ? source : destination) = 2;
    for (const std::size_t place : places) books.set(place, accounts[place]);

    Ledger ledger(accounts);
    const auto place = [](std::size_t p) { return p < 2 ? std::optional(p) : std::nullopt; };
    const auto outcome = ledger.decide({place(source), place(destination), amount, currency});
    const auto* moved = std::get_if<Moved>(&outcome);
    CAPTURE(round);
    REQUIRE(books.pay(source, destination, amount, currency) == (moved != nullptr));
    for (const std::size_t p : places) REQUIRE(books.balance(p) == ledger.accounts()[p].balance);
    if (moved != nullptr) {
      ++moved_count;
      rows += 2;
      REQUIRE(books.last_transfer() == std::to_string(moved->debit_balance_after) + ", " +
                                           std::to_string(moved->credit_balance_after));
    }
    REQUIRE(books.rows() == rows);
  }
  CHECK(moved_count > rounds / 5);
  CHECK(moved_count < rounds - rounds / 5);
}

}  // namespace oncepay::payments
