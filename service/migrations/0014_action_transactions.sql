-- Owner: ledger. What GetAction finds the transactions of an action by.
create index transaction_attributions_action_idx on transaction_attributions (action_id, chain_id)
  where action_id is not null;
