-- Owner: rpc. A transaction is looked at until its block is final: a reorganisation may drop it again.
alter table outgoing_transactions add column is_final boolean not null default false;
update outgoing_transactions set is_final = true where state in ('confirmed', 'reverted', 'cancelled');
create index outgoing_transactions_watched_idx on outgoing_transactions (chain_id, sender, nonce)
  where nonce is not null and not is_final;

-- Whether a node took the form when it was last handed to one; null: no answer is known.
alter table outgoing_attempts add column taken boolean;

-- The count of the key's transactions that are taken as they are: those before the first of this installation, and those an
-- operator accepted since. The next nonce follows from it and from the nonces of our own.
alter table senders rename column next_nonce to accepted_count;
alter table senders alter column accepted_count drop not null;
update senders s set accepted_count =
  (select min(nonce) from outgoing_transactions t where t.chain_id = s.chain_id and t.sender = s.address);
-- Why nothing is signed with the key now, since when; and that an operator lets it go on.
alter table senders add column stopped text;
alter table senders add column stopped_at timestamptz;
alter table senders add column release_asked_at timestamptz;
