-- Which observation prices what a block's entries moved of a token. It is chosen once, so that whatever is derived again
-- has the same digits, whenever a price came. Observations; a row goes only with its orphaned block. No row: not chosen
-- yet, because there was no observation by then.
create table price_choices (
  chain_id bigint not null,
  address text collate "C" not null,
  block_number bigint not null,
  block_hash text collate "C" not null,
  price_observation_id bigint not null references price_observations (id),
  primary key (chain_id, address, block_hash)
);
create index price_choices_block_idx on price_choices (chain_id, block_number);
create index price_choices_price_observation_id_idx on price_choices (price_observation_id);

-- What was chosen for single entries. Where two of one token and block differ, the observation that came first stays.
insert into price_choices (chain_id, address, block_number, block_hash, price_observation_id)
select distinct on (i.chain_id, v.asset, i.block_hash) i.chain_id, v.asset, i.block_number, i.block_hash,
  i.price_observation_id
from interactions i join vaults v on v.id = i.vault_id
where i.price_observation_id is not null
order by i.chain_id, v.asset, i.block_hash, i.price_observation_id;

update interactions i set price_observation_id = o.id, amount_usd = trunc(i.amount * o.price_usd, 18)
from vaults v, price_choices c, price_observations o
where v.id = i.vault_id and c.chain_id = i.chain_id and c.address = v.asset and c.block_hash = i.block_hash
  and o.id = c.price_observation_id and i.price_observation_id is distinct from c.price_observation_id;

drop table interaction_prices;

-- Entries that wait for a price.
create index interactions_unpriced_idx on interactions (vault_id, block_timestamp) where price_observation_id is null;
