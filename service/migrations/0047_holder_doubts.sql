-- Owner: positions. Observations: a declared holder whose own view contradicts what its events tell of an account, as nodes answered
-- it. Derivation goes by those that are believed (`believed_from`); a rebuild never touches them, a reorganisation removes those of
-- orphaned blocks.
create table holder_doubts (
  chain_id bigint not null,
  vault_id integer not null references vaults (id) on delete cascade,
  holder bytea not null check (length(holder) = 20),
  -- The account that was asked about, at which block, and the shares that the view told for it.
  wallet bytea not null check (length(wallet) = 20),
  block_number bigint not null,
  block_hash bytea not null check (length(block_hash) = 32),
  said numeric not null check (said >= 0),
  -- How many urls told the same at this block.
  urls integer not null check (urls > 0),
  read_at timestamptz not null,
  -- Chain time up to which everything was derived when it was believed; null: it waits for a second reading or a second look at logs.
  believed_from timestamptz,
  primary key (vault_id, holder, block_number)
);
create index holder_doubts_block_idx on holder_doubts (chain_id, block_number);
create trigger holder_doubts_insert after insert on holder_doubts for each row
  when (new.believed_from is not null) execute function note_configuration();
create trigger holder_doubts_update after update on holder_doubts for each row
  when (old.believed_from is distinct from new.believed_from) execute function note_configuration();
create trigger holder_doubts_delete after delete on holder_doubts for each row
  when (old.believed_from is not null) execute function note_configuration();
