-- What incentives of tokens and points show that are indexed, in percent a year by reward type: the latest APR of the
-- streams that run on the receipt token. A type without a stream that runs is left out; null: its APR is not known.
alter table opportunity_analytics add column stream_aprs jsonb not null default '{}';
