-- Owner: catalogue. Whether a vault that usually takes requests completes deposits and withdrawals at once now (a Lagoon vault
-- while its valuation is valid), as last read from its chain.
alter table opportunity_capabilities add column deposit_at_once boolean not null default false;
alter table opportunity_capabilities add column withdraw_at_once boolean not null default false;
