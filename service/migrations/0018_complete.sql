-- Which blocks of a chain were compared with their headers. From `followed_from` on every block is, before it is derived;
-- up to `checked_to` that was done again once they were final. A database of an older program looks at the last 10,000.
alter table chain_cursors
  add column followed_from bigint not null default 0,
  add column checked_to bigint not null default -1;
update chain_cursors set followed_from = greatest(start_block, head_number - 9999);
update chain_cursors set checked_to = followed_from - 1;

-- Ranges an operator asks a node for again, and up to where that is done, so that it can go on after a break.
create table refetches (
  chain_id bigint not null,
  from_block bigint not null,
  to_block bigint not null,
  done_to bigint not null,
  -- What was found and repaired so far.
  missing_logs bigint not null default 0,
  extra_logs bigint not null default 0,
  first_wrong bigint,
  primary key (chain_id, from_block, to_block)
);
