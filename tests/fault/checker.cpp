#include "fault/checker.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "support/naive_ledger.hpp"

namespace fault {
namespace {

using oncepay::test::NaiveLedger;
using support::Payment;

constexpr Micros never = std::numeric_limits<Micros>::max();

bool same(const Payment& one, const Payment& other) {
  return one.amount == other.amount && one.currency == other.currency &&
         one.source == other.source && one.destination == other.destination;
}

std::string id_in(const Seen& seen) {
  const auto parsed = nlohmann::json::parse(seen.body, nullptr, false);
  if (!parsed.is_object()) return "";
  return parsed.value(seen.status == 201 ? "id" : "payment_id", "");
}

bool same_answer(const Seen& one, const Seen& other) {
  return one.status == other.status && one.content_type == other.content_type &&
         one.location == other.location && one.body == other.body;
}

oncepay::test::NaivePayment on_paper(const Payment& payment) {
  return {payment.source, payment.destination, payment.amount, payment.currency};
}

std::string short_text(const Seen& seen) {
  return std::to_string(seen.status) + " " + seen.location + " " + seen.body;
}

// Everything that is known of one key.
struct KeyStory {
  std::vector<const Call*> calls;
  std::vector<const BookedPayment*> booked;
  const StoredAnswer* stored = nullptr;
  Micros first_sent = never;
  Micros first_decided = never;  // when somebody first knew
  bool refused = false;
  const Call* decided = nullptr;  // a call that was answered 201 or 402
};

class Judge {
 public:
  explicit Judge(const History& history) : history_(history) { gather(); }

  std::vector<Violation> judge() {
    for (const auto& [key, story] : stories_) {
      answers(key, story);
      bookings(key, story);
      for (const Call* call : story.calls) expected(*call);
    }
    serial_order();
    real_time_order();
    if (!history_.books.verify.empty()) object("verify", "", history_.books.verify);
    return std::move(found_);
  }

 private:
  void object(const char* rule, const std::string& about, const std::string& what) {
    found_.push_back({rule, about, what});
  }

  void gather() {
    for (const Call& call : history_.calls) {
      KeyStory& story = stories_[call.key];
      story.calls.push_back(&call);
      story.first_sent = std::min(story.first_sent, call.sent_us);
      if (!call.seen) continue;
      if (call.seen->decided()) {
        if (story.decided == nullptr) story.decided = &call;
        story.first_decided = std::min(story.first_decided, call.received_us);
      }
      const std::string problem = call.seen->problem();
      story.refused =
          story.refused || problem == "account-not-found" || problem == "currency-mismatch";
    }
    for (const BookedPayment& booked : history_.books.payments) {
      stories_[booked.key].booked.push_back(&booked);
    }
    for (const StoredAnswer& stored : history_.books.answers) {
      stories_[stored.key].stored = &stored;
    }
  }

  void answers(const std::string& key, const KeyStory& story) {
    int firsts = 0;
    for (const Call* call : story.calls) {
      if (!call->seen || !call->seen->decided()) continue;
      firsts += call->seen->replayed ? 0 : 1;
      if (!same_answer(*call->seen, *story.decided->seen)) {
        object("two-answers", key,
               short_text(*story.decided->seen) + " and " + short_text(*call->seen));
      }
      if (story.stored == nullptr || !same_answer(*call->seen, story.stored->answer)) {
        object("other-than-stored", key,
               short_text(*call->seen) + " but stored is " +
                   (story.stored == nullptr ? "nothing" : short_text(story.stored->answer)));
      }
      if (!story.booked.empty() && !same(call->payment, story.booked.front()->payment)) {
        object("other-request", key, "answered a request for " + call->payment.json());
      }
    }
    if (firsts > 1) object("two-firsts", key, std::to_string(firsts) + " answers are no replays");
  }

  void bookings(const std::string& key, const KeyStory& story) {
    if (story.booked.size() > 1) {
      object("two-payments", key, std::to_string(story.booked.size()) + " payments");
    }
    if (!story.booked.empty() && story.calls.empty()) object("unasked", key, "paid, never sent");
    if (!story.booked.empty() && story.refused) object("refused-but-paid", key, "refused and paid");
    if (!story.calls.empty() && story.decided == nullptr && !story.refused) {
      object("unsettled", key, "sent " + std::to_string(story.calls.size()) + " times in vain");
    }
    const bool asked = std::any_of(story.calls.begin(), story.calls.end(), [&](const Call* call) {
      return story.booked.empty() || same(call->payment, story.booked.front()->payment);
    });
    if (!story.calls.empty() && !asked) object("other-request", key, "paid what nobody asked for");
    if (story.decided != nullptr) acknowledged(key, story, *story.decided->seen);
  }

  void acknowledged(const std::string& key, const KeyStory& story, const Seen& seen) {
    const std::string id = id_in(seen);
    const auto booked =
        std::find_if(story.booked.begin(), story.booked.end(),
                     [&](const BookedPayment* payment) { return payment->id == id; });
    if (booked == story.booked.end()) {
      return object("not-in-books", key, "there is no such payment: " + short_text(seen));
    }
    const std::string outcome = seen.status == 201 ? "" : seen.problem();
    if ((*booked)->decline_reason != outcome) {
      object("not-in-books", key,
             "answered " + short_text(seen) + ", booked as " + (*booked)->status + " " +
                 (*booked)->decline_reason);
    }
    if (story.first_decided < (*booked)->committed_us) {
      object("before-commit", key,
             "answered " + std::to_string((*booked)->committed_us - story.first_decided) +
                 " us before its commit");
    }
  }

  void expected(const Call& call) {
    if (!call.seen) return;
    const std::string problem = call.seen->problem();
    static const std::set<std::pair<int, std::string>> known{{201, ""},
                                                             {402, "insufficient-funds"},
                                                             {402, "balance-limit"},
                                                             {409, "request-in-progress"},
                                                             {422, "account-not-found"},
                                                             {422, "currency-mismatch"},
                                                             {422, "idempotency-key-reused"},
                                                             {503, "overloaded"},
                                                             {503, "unavailable"},
                                                             {503, "outcome-unknown"}};
    if (!known.contains({call.seen->status, problem})) {
      return object("unexpected", call.key, short_text(*call.seen));
    }
    const bool retryable = call.seen->status == 409 || call.seen->status == 503;
    if (retryable && (call.seen->body.find("\"retryable\":true") == std::string::npos ||
                      call.seen->body.find("\"same_key\":true") == std::string::npos ||
                      call.seen->retry_after_s <= 0)) {
      object("unexpected", call.key, "does not say when to come back: " + short_text(*call.seen));
    }
    if (problem == "idempotency-key-reused") mismatched(call);
  }

  // 422 is right only for a request that is not the one that was decided.
  void mismatched(const Call& call) {
    const KeyStory& story = stories_.at(call.key);
    if (!story.booked.empty() && same(call.payment, story.booked.front()->payment)) {
      object("unexpected", call.key, "the key's own request was called another one");
    }
  }

  // Batch by batch: one commit time is one transaction. Its transfers have an order; a decline
  // moves nothing, so it is explained when it is right at any moment in between.
  void serial_order() {
    NaiveLedger paper;
    for (const BookedAccount& account : history_.books.accounts) {
      paper.accounts[account.id] = {account.currency, 0, account.overdraft_limit};
    }
    const auto& payments = history_.books.payments;
    for (auto first = payments.begin(); first != payments.end();) {
      const auto end = std::find_if(first, payments.end(), [&](const BookedPayment& other) {
        return other.committed_us != first->committed_us;
      });
      if (!batch_explained(paper, {first, end})) return;  // what follows would be noise
      first = end;
    }
    for (const BookedAccount& account : history_.books.accounts) {
      if (paper.accounts[account.id].balance != account.balance) {
        object("no-serial-order", account.id,
               "the balance is " + std::to_string(account.balance) + ", not so on paper");
      }
    }
  }

  bool batch_explained(NaiveLedger& paper, std::span<const BookedPayment> batch) {
    std::vector<const BookedPayment*> declined;
    for (const BookedPayment& booked : batch) {
      if (!booked.decline_reason.empty()) declined.push_back(&booked);
    }
    const auto explain = [&] {
      std::erase_if(declined, [&](const BookedPayment* booked) {
        NaiveLedger trial = paper;
        return trial.pay(on_paper(booked->payment)) == booked->decline_reason;
      });
    };
    explain();
    for (const BookedPayment& booked : batch) {
      if (!booked.decline_reason.empty()) continue;
      const std::string outcome = paper.pay(on_paper(booked.payment));
      if (outcome != booked.status) {
        object("no-serial-order", booked.key,
               "on paper " + outcome + ", in the books " + booked.status);
        return false;
      }
      explain();
    }
    for (const BookedPayment* booked : declined) {
      object("no-serial-order", booked->key, "on paper not " + booked->decline_reason);
    }
    return declined.empty();
  }

  // From the last commit to the first: none of the later ones may have been known before this one
  // was sent.
  void real_time_order() {
    Micros known_later = never;
    std::string which;
    const auto& payments = history_.books.payments;
    for (auto booked = payments.rbegin(); booked != payments.rend(); ++booked) {
      const KeyStory& story = stories_.at(booked->key);
      if (known_later < story.first_sent) {
        object("out-of-order", booked->key, "was sent after " + which + " was answered");
      }
      if (story.first_decided < known_later) {
        known_later = story.first_decided;
        which = booked->key;
      }
    }
  }

  const History& history_;
  std::map<std::string, KeyStory> stories_;
  std::vector<Violation> found_;
};

}  // namespace

std::vector<Violation> check(const History& history) { return Judge(history).judge(); }

std::string text_of(const std::vector<Violation>& violations, std::size_t lines_max) {
  std::string text;
  for (std::size_t i = 0; i < std::min(lines_max, violations.size()); ++i) {
    const Violation& one = violations[i];
    text += one.rule + (one.key.empty() ? "" : " " + one.key) + ": " + one.what + "\n";
  }
  if (violations.size() > lines_max) {
    text += "and " + std::to_string(violations.size() - lines_max) + " more\n";
  }
  return text;
}

}  // namespace fault
