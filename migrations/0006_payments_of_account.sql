-- An account's payments that moved money are found through its transfers: transfers_by_debit and
-- transfers_by_credit name each of them, so two more indexes of that size on payments told nothing
-- new, and each payment paid for them. The declined ones have indexes of their own. Apart from
-- those, because a transaction that drops an index keeps even readers out until its end.
DROP INDEX payments_by_source;
DROP INDEX payments_by_destination;
