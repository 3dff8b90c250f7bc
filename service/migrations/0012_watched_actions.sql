-- Which of our actions a watched transaction carries, where a key of ours signed its suffix. Derived; a retracted row keeps
-- it, so that the action of a transaction the chain took back can still be named.
alter table watched add column action_id uuid;
