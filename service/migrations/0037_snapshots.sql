-- Owner: snapshots. Takes over: vault_snapshots, snapshot_progress, snapshot_gaps, vault_identities. Observations, as they were.
comment on table vault_snapshots is 'What a vault answered at one block of its grid.';
