// Answers and resolutions as short texts, so that a test can compare them at a glance.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "once/engine.hpp"
#include "payments/executors.hpp"

namespace oncepay::test {

using once::Resolution;

inline payments::Renderers plain_renderers() {
  payments::Renderers renderers;
  renderers.payment = [](const payments::Payment& payment) {
    return once::Answer{201, "text/plain", "/p/" + payment.id, "paid " + payment.id, payment.id};
  };
  renderers.declined = [](const payments::Payment& payment, std::string_view) {
    return once::Answer{402, "text/plain", std::nullopt,
                        std::string(name_of(payment.decline_reason.value())), payment.id};
  };
  renderers.account = [](const payments::Account& account) {
    return once::Answer{201, "text/plain", "/a/" + account.id, "opened", "accounts/" + account.id};
  };
  renderers.refused = [](const std::vector<payments::Refusal>& refusals, std::string_view) {
    std::string body;
    for (const auto& refusal : refusals) body += std::string(refusal.pointer) + " ";
    return once::Answer{422, "text/plain", std::nullopt, body, ""};
  };
  return renderers;
}

// "201 first", "201 replay", "402 …", "refused", "mismatch", "in-progress", …
inline std::string text_of(const Resolution& resolution) {
  if (const auto* answered = std::get_if<once::Answered>(&resolution)) {
    return std::to_string(answered->answer.status) + (answered->replayed ? " replay" : " first");
  }
  if (std::holds_alternative<once::NotDone>(resolution)) return "refused";
  if (std::holds_alternative<once::Mismatch>(resolution)) return "mismatch";
  if (std::holds_alternative<once::InProgress>(resolution)) return "in-progress";
  if (std::holds_alternative<once::Overloaded>(resolution)) return "overloaded";
  if (std::holds_alternative<once::Unavailable>(resolution)) return "unavailable";
  if (std::holds_alternative<once::Failed>(resolution)) return "failed";
  return "outcome-unknown";
}

}  // namespace oncepay::test
