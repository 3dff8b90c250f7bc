-- Owner: postgres. `settings` holds facts about this installation (configuration, one row a name). `hex_text` and
-- `hex_bytes` turn the bytes of an address, a hash or data into lower-case 0x text, and back.
create table settings (
  name text primary key,
  value jsonb not null,
  updated_at timestamptz not null default now()
);

create function hex_text(bytes bytea) returns text language sql immutable strict parallel safe
  return '0x' || encode(bytes, 'hex');
create function hex_bytes(hex text) returns bytea language sql immutable strict parallel safe
  return decode(substr(hex, 3), 'hex');
create function hex_bytes(hexes text[]) returns bytea[] language sql immutable strict parallel safe
  return array(select decode(substr(hex, 3), 'hex') from unnest(hexes) as t (hex));
