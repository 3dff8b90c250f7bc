import type { DeriveConfig } from '../../src/derive/config.js'
import type { RawBlock } from '../../src/rpc/raw.js'
import { addressOf, digitsOf } from './bytes.js'
import { firstTopics } from './told.js'
import type { Creditable, Frame } from './types.js'

/** SEMANTICS §2: whom a caller and an account count as, in one block. */
export type Identity = {
  /** An account, or of a sub-account the one its owner registered. */
  ownerOf(address: string): string
  /** Of a forwarder's call to the vault the sender the event names, of our settlement of an order the order's receiver. */
  callerOf(frame: Pick<Frame, 'caller' | 'target' | 'data'>, event: Creditable): string
  /** Who calls, whomever a settlement speaks for: what may keep marks. */
  speakerOf(frame: Pick<Frame, 'caller' | 'target'>, event: Creditable): string
  /** The names under which a caller may have been given a signature. */
  namesOf(frame: Pick<Frame, 'caller' | 'target'>, event: Creditable): string[]
}

/** The first 19 bytes of an address. */
const prefixOf = (address: string): string => digitsOf(address).slice(0, 38)

/** What forwarders of the configuration register in a block: the first owner of a prefix stays. */
export function noteOwners(block: RawBlock, config: DeriveConfig, owners: Map<string, string>): void {
  for (const { address, topics } of block.logs) {
    if (topics[0] !== firstTopics.ownerRegistered) continue
    if (!(config.forwarders ?? []).some((each) => each.address === address)) continue
    const [prefix, owner] = [digitsOf(topics[1]!).slice(0, 38), addressOf(topics[2]!)]
    const key = `${address}:${prefix}`
    if (prefixOf(owner) === prefix && !owners.has(key)) owners.set(key, owner)
  }
}

export function identify(
  config: DeriveConfig,
  timestamp: number,
  vault: ReadonlySet<string>,
  owners: ReadonlyMap<string, string>,
  settlementOf: (frame: Pick<Frame, 'caller' | 'target' | 'data'>) => string | undefined = () => undefined,
): Identity {
  const declared = (config.forwarders ?? []).filter(({ from }) => from <= timestamp).map(({ address }) => address)
  const ownerOf = (address: string): string => {
    for (const forwarder of declared) {
      const owner = owners.get(`${forwarder}:${prefixOf(address)}`)
      if (owner !== undefined) return owner
    }
    return address
  }
  const saidBy = ({ caller, target }: Pick<Frame, 'caller' | 'target'>, event: Creditable): string =>
    vault.has(target) && declared.includes(caller) ? event.sender : caller
  return {
    ownerOf,
    callerOf: (frame, event) => ownerOf(settlementOf(frame) ?? saidBy(frame, event)),
    speakerOf: (frame, event) => ownerOf(saidBy(frame, event)),
    namesOf: (frame, event) => [...new Set([frame.caller, saidBy(frame, event)])],
  }
}
