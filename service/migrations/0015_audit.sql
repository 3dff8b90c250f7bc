-- Owner: audit. Who changed what of this installation by a command: facts, only ever added to. The row of a change is
-- written in its transaction.
create table operator_changes (
  id uuid primary key,
  at timestamptz not null,
  -- The account of the operating system that ran the command.
  os_user text not null,
  -- As it was called; keys and what urls hide are left out.
  command text not null,
  -- What the change is about, before and after it; null where there was nothing.
  before jsonb,
  after jsonb
);
create index operator_changes_at_idx on operator_changes (at);
