// Reading: payments newest first behind a cursor that stays stable while others pay, statements
// with the balance after each entry, and query parameters that are known or refused.
// Where the contract is silent a list is what users of Stripe expect:
// {"object":"list","data":[…],"has_more":…,"next_cursor":"…" or null}.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "support/names.hpp"
#include "support/problem.hpp"
#include "support/shop.hpp"

namespace {

using namespace support;

Shop& shop() {
  static Shop instance;
  return instance;
}

struct Page {
  std::vector<nlohmann::json> items;
  std::string next;  // empty at the end
};

Page page_of(Caller& caller, const std::string& target) {
  const Answer answer = caller.get(target);
  INFO("GET ", target, ": ", answer.text());
  REQUIRE(answer.status == 200);
  const nlohmann::json body = answer.json();
  Page page;
  for (const nlohmann::json& item : body.at("data")) {
    page.items.push_back(item);
  }
  if (body.at("next_cursor").is_string()) {
    page.next = body.at("next_cursor").get<std::string>();
  }
  CHECK(body.at("has_more") == !page.next.empty());
  return page;
}

std::vector<nlohmann::json> all_pages(Caller& caller, const std::string& target, int most = 100) {
  std::vector<nlohmann::json> out;
  std::string next;
  do {
    const Page page = page_of(caller, target + (next.empty() ? "" : "&cursor=" + next));
    out.insert(out.end(), page.items.begin(), page.items.end());
    next = page.next;
  } while (!next.empty() && --most > 0);
  CHECK(next.empty());
  return out;
}

std::vector<std::string> ids_of(const std::vector<nlohmann::json>& items) {
  std::vector<std::string> out;
  for (const nlohmann::json& item : items) {
    out.push_back(item.at("id").get<std::string>());
  }
  return out;
}

// `count` payments of 1, 2, 3 … between two accounts of their own; ids newest first.
std::vector<std::string> pay_several(const Payment& payment, int count) {
  Caller caller = shop().caller();
  std::vector<std::string> ids;
  for (int i = 1; i <= count; ++i) {
    ids.insert(ids.begin(), payment_id_of(caller.pay(fresh_key(), payment.of(i))));
  }
  return ids;
}

}  // namespace

TEST_CASE("a payment reads back with the members it was answered with") {
  Caller caller = shop().caller();
  const Payment payment = shop().payment_between_new_accounts();
  const Answer paid = caller.pay(fresh_key(), payment);
  const Answer read = caller.get("/v1/payments/" + payment_id_of(paid));
  CHECK(read.status == 200);
  CHECK(read.json() == paid.json());
  CHECK(read.header("Cache-Control") == "no-store");
}

TEST_CASE("an unknown payment, an id that is none, and another tenant's payment are answered 404") {
  Caller caller = shop().caller();
  const std::string id =
      payment_id_of(caller.pay(fresh_key(), shop().payment_between_new_accounts()));
  for (const char* target : {"/v1/payments/0197f3c2-0000-7000-8000-000000000000",
                             "/v1/payments/not-a-uuid", "/v1/payments/1", "/v1/payments/%27"}) {
    INFO("target: ", target);
    expect_problem(caller.get(target), 404, problems::any);
  }
  Caller stranger(shop().instance, create_tenant(shop().database));
  expect_problem(stranger.get("/v1/payments/" + id), 404, problems::any);
  CHECK(page_of(stranger, "/v1/payments?limit=10").items.empty());
}

TEST_CASE("payments are listed newest first, page by page, each once") {
  const Payment payment = shop().payment_between_new_accounts();
  const std::vector<std::string> ids = pay_several(payment, 7);
  Caller caller = shop().caller();
  for (const int limit : {1, 2, 3, 7, 100}) {
    INFO("limit: ", limit);
    const std::string target =
        "/v1/payments?account=" + payment.destination + "&limit=" + std::to_string(limit);
    const Page first = page_of(caller, target);
    CHECK(first.items.size() == static_cast<std::size_t>(std::min(limit, 7)));
    CHECK(ids_of(all_pages(caller, target)) == ids);
  }
}

TEST_CASE("a cursor stays where it was while new payments arrive") {
  const Payment payment = shop().payment_between_new_accounts();
  const std::vector<std::string> ids = pay_several(payment, 6);
  Caller caller = shop().caller();
  const std::string target = "/v1/payments?limit=2&account=" + payment.source;
  // The account's own funding is its oldest payment.
  Page page = page_of(caller, target);
  std::vector<std::string> seen = ids_of(page.items);
  while (!page.next.empty()) {
    pay_several(payment, 2);
    page = page_of(caller, target + "&cursor=" + page.next);
    const std::vector<std::string> more = ids_of(page.items);
    seen.insert(seen.end(), more.begin(), more.end());
  }
  CHECK(seen.size() == 7);
  CHECK(std::equal(ids.begin(), ids.end(), seen.begin()));
}

TEST_CASE("an account's payments are paged together, whatever became of them") {
  Caller caller = shop().caller();
  const Payment payment = shop().payment_between_new_accounts(10, 100);
  using Ids = std::vector<std::string>;
  Ids all;
  Ids succeeded;
  Ids declined;
  for (const std::int64_t amount : {10, 500, 20, 30, 500, 500, 5}) {
    const Answer answer = caller.pay(fresh_key(), payment.of(amount));
    CHECK(answer.status == (amount == 500 ? 402 : 201));
    const std::string id = payment_id_of(answer);
    all.insert(all.begin(), id);
    Ids& outcome = amount == 500 ? declined : succeeded;
    outcome.insert(outcome.begin(), id);
  }
  const std::string list = "/v1/payments?account=" + payment.destination;
  for (const char* limit : {"&limit=1", "&limit=2", "&limit=3", "&limit=7"}) {
    INFO(limit);
    CHECK(ids_of(all_pages(caller, list + limit)) == all);
    CHECK(ids_of(all_pages(caller, list + "&status=succeeded" + limit)) == succeeded);
    CHECK(ids_of(all_pages(caller, list + "&status=declined" + limit)) == declined);
  }
}

TEST_CASE("a list refuses the cursor of another kind of list") {
  Caller caller = shop().caller();
  const Payment payment = shop().payment_between_new_accounts(10, 100);
  for (const std::int64_t amount : {10, 10, 500, 500}) caller.pay(fresh_key(), payment.of(amount));
  const std::string account = "/v1/payments?limit=1&account=" + payment.source;
  const std::string lists[] = {"/v1/payments?limit=1", account, account + "&status=declined",
                               "/v1/accounts/" + payment.source + "/entries?limit=1"};
  for (const std::string& from : lists) {
    const std::string cursor = page_of(caller, from).next;
    for (const std::string& to : lists) {
      INFO("cursor of ", from, " sent to ", to);
      CHECK(caller.get(to + "&cursor=" + cursor).status == (from == to ? 200 : 400));
    }
  }
}

TEST_CASE("filters by account, status and key show what they say and nothing else") {
  Caller caller = shop().caller();
  const Payment payment = shop().payment_between_new_accounts(60, 100);
  const std::string first = fresh_key();
  const std::string second = fresh_key();
  const std::string succeeded = payment_id_of(caller.pay(first, payment));
  const std::string declined = payment_id_of(caller.pay(second, payment));
  const auto ids = [&](const std::string& query) {
    return ids_of(all_pages(caller, "/v1/payments?limit=100&" + query));
  };
  const std::string account = "account=" + payment.destination;
  using Ids = std::vector<std::string>;
  CHECK(ids(account) == Ids{declined, succeeded});
  CHECK(ids(account + "&status=succeeded") == Ids{succeeded});
  CHECK(ids(account + "&status=declined") == Ids{declined});
  CHECK(ids("status=declined").front() == declined);  // the newest of all accounts
  CHECK(ids("idempotency_key=" + first) == Ids{succeeded});
  CHECK(ids("idempotency_key=" + second + "&status=declined") == Ids{declined});
  CHECK(ids("idempotency_key=" + second + "&status=succeeded").empty());
  CHECK(ids("account=nobody").empty());
  CHECK(ids("idempotency_key=nothing").empty());
}

TEST_CASE("filter values are percent-decoded, as in every query") {
  Caller caller = shop().caller();
  const std::string key = fresh_key() + "/a+b%2F&c";
  const std::string id = payment_id_of(caller.pay(key, shop().payment_between_new_accounts()));
  const std::string encoded = key.substr(0, key.find('/')) + "%2Fa%2Bb%252F%26c";
  CHECK(ids_of(page_of(caller, "/v1/payments?idempotency_key=" + encoded).items) ==
        std::vector<std::string>{id});
}

TEST_CASE("unknown and malformed query parameters are refused, never ignored") {
  Caller caller = shop().caller();
  const std::string account = caller.open_account();
  const std::string payment =
      payment_id_of(caller.pay(fresh_key(), shop().payment_between_new_accounts()));
  for (const std::string& target : {std::string("/v1/payments?limits=1"),
                                    std::string("/v1/payments?limit=1&x=y"),
                                    std::string("/v1/payments?limit=0"),
                                    std::string("/v1/payments?limit=-1"),
                                    std::string("/v1/payments?limit=abc"),
                                    std::string("/v1/payments?limit="),
                                    std::string("/v1/payments?limit=1.5"),
                                    std::string("/v1/payments?limit=+1"),
                                    std::string("/v1/payments?limit=99999999999999999999"),
                                    std::string("/v1/payments?cursor=garbage"),
                                    std::string("/v1/payments?cursor=%00"),
                                    std::string("/v1/payments?status=paid"),
                                    std::string("/v1/payments?status="),
                                    std::string("/v1/payments?Limit=1"),
                                    "/v1/payments/" + payment + "?expand=1",
                                    "/v1/accounts/" + account + "?x=1",
                                    "/v1/accounts/" + account + "/entries?status=succeeded",
                                    "/v1/accounts/" + account + "/entries?limit=0",
                                    "/v1/accounts/" + account + "/entries?cursor=garbage",
                                    std::string("/v1/idempotency-keys/k?x=1")}) {
    INFO("target: ", target);
    expect_problem(caller.get(target), 400, problems::any);
  }
}

TEST_CASE("a POST with query parameters is refused too and uses no key") {
  const std::string key = fresh_key();
  Caller caller = shop().caller();
  Request request = caller.payment_request(key, shop().payment_between_new_accounts());
  request.target += "?dry_run=true";
  expect_problem(caller.send(request), 400, problems::any);
  CHECK(shop().key_rows(key) == 0);
}

TEST_CASE("a statement lists an account's entries newest first with the balance after each") {
  Caller caller = shop().caller();
  const Payment out = shop().payment_between_new_accounts(100, 1000);
  const Payment back{30, "EUR", out.destination, out.source};
  CHECK(caller.pay(fresh_key(), out).status == 201);
  CHECK(caller.pay(fresh_key(), back).status == 201);
  CHECK(caller.pay(fresh_key(), out.of(5000)).status == 402);  // declined: no entry
  CHECK(caller.pay(fresh_key(), out.of(7)).status == 201);

  for (const char* limit : {"1", "2", "100"}) {
    std::vector<std::int64_t> balances;
    const auto entries =
        all_pages(caller, "/v1/accounts/" + out.source + "/entries?limit=" + std::string(limit));
    for (const nlohmann::json& entry : entries) {
      balances.push_back(entry.at("balance_after").get<std::int64_t>());
      CHECK_FALSE(entry.at("payment_id").get<std::string>().empty());
    }
    CHECK(balances == std::vector<std::int64_t>{923, 930, 900, 1000});
    // Whether the side is a sign or a word, the amounts are these.
    std::vector<std::int64_t> amounts;
    for (const nlohmann::json& entry : entries) {
      amounts.push_back(std::abs(entry.at("amount").get<std::int64_t>()));
    }
    CHECK(amounts == std::vector<std::int64_t>{7, 30, 100, 1000});
  }
  CHECK(caller.balance_of(out.source) == 923);
}

TEST_CASE("a statement stays stable under its cursor while new entries arrive") {
  Caller caller = shop().caller();
  const Payment payment = shop().payment_between_new_accounts(1, 1000);
  for (int i = 0; i < 5; ++i) {
    caller.pay(fresh_key(), payment);
  }
  const std::string target = "/v1/accounts/" + payment.source + "/entries?limit=2";
  std::vector<std::int64_t> balances;
  std::string next;
  do {
    const Page page = page_of(caller, target + (next.empty() ? "" : "&cursor=" + next));
    for (const nlohmann::json& entry : page.items) {
      balances.push_back(entry.at("balance_after").get<std::int64_t>());
    }
    next = page.next;
    caller.pay(fresh_key(), payment);
  } while (!next.empty());
  CHECK(balances == std::vector<std::int64_t>{995, 996, 997, 998, 999, 1000});
}

TEST_CASE("a list has a default size and a largest one, so that no answer grows without bound") {
  Caller caller = shop().caller();
  const Payment payment = shop().payment_between_new_accounts(1, 1'000'000);
  pay_several(payment, 120);
  const Page page = page_of(caller, "/v1/payments");
  CHECK(page.items.size() < 120);
  CHECK_FALSE(page.next.empty());
  const Answer many = caller.get("/v1/payments?limit=1000000");
  // Refused or cut: either is bounded.
  CHECK((many.status == 400 || many.json().at("data").size() <= 1000));
}

TEST_CASE("health, readiness and metrics answer without a key") {
  Client client(shop().instance.port());
  CHECK(client.send({"GET", "/healthz", {}, ""}).status == 200);
  CHECK(client.send({"GET", "/readyz", {}, ""}).status == 200);
  const Answer metrics = client.send({"GET", "/metrics", {}, ""});
  CHECK(metrics.status == 200);
  CHECK(metrics.header(headers::content_type).value_or("").starts_with("text/plain"));
  CHECK(metrics.body.find("# TYPE ") != std::string::npos);
}
