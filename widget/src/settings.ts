'use client'

import { createContext, useContext } from 'react'
import type { Figures } from './figures.js'
import type { TextName } from './texts.js'

/** The status of a flow, as an app hears of it. */
export type FlowTold = { kind: string; status: string; txHash?: string | undefined }

/** The things that all parts of one widget share. */
export type Settings = {
  distributorId: string
  /** The only vaults that are shown, by id. */
  vaults: readonly string[] | undefined
  account: `0x${string}` | undefined
  /** Begins the names of its flows: those of another service or wallet are not its own. */
  slot: string
  figures: Figures
  onFlow(told: FlowTold): void
  say(name: TextName, values?: Readonly<Record<string, string>>): string
}

export const SettingsContext = createContext<Settings | undefined>(undefined)

/** @throws Error outside of a widget. */
export function useSettings(): Settings {
  const found = useContext(SettingsContext)
  if (!found) throw new Error('this part stands within an <EarnWidget>')
  return found
}

/** Begins the names of flows: those of another service or wallet are not its own. */
export const slotOf = (baseUrl: string, account: string | undefined): string =>
  `widget ${baseUrl} ${account?.toLowerCase()}`
