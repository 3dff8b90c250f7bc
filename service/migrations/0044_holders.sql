-- Owner: vaults. Configuration: the contracts that keep a vault's shares for accounts and are looked through, each
-- `{ address, kind, activeFrom, markets? }`.
alter table vaults add column holders jsonb not null default '[]';
create trigger vaults_holders_change after update on vaults for each row
  when (old.holders is distinct from new.holders) execute function note_configuration();
