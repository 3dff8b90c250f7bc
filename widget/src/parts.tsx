'use client'

import { useEarn } from '@openearn/react'
import { type ReactNode, useMemo, useRef } from 'react'
import { createFigures } from './figures.js'
import { Shadow } from './Shadow.js'
import { type FlowTold, type Settings, SettingsContext, slotOf } from './settings.js'
import { englishTexts, fill, type TextName, type Texts } from './texts.js'

/** The parts of the widget, for a page that puts them where it wants to. They stand within an `<EarnParts>`. */
export { DepositForm } from './DepositForm.js'
export { FlowPanels } from './FlowPanels.js'
export { createFigures, cutHex, cutName, toUnits } from './figures.js'
export { OrderForm } from './OrderForm.js'
export { Requests } from './Requests.js'
export { Rewards } from './Rewards.js'
export { WithdrawForm } from './WithdrawForm.js'
export { type Announced, useAnnounced, useDiscovered, type Wallet } from './wallets.js'

export type EarnPartsProps = {
  /** The builder code of the app. */
  distributorId: string
  /** The account of the wallet that `EarnProvider` has; undefined while there is none. */
  account: `0x${string}` | undefined
  /** `auto`, as the browser is set, unless given. */
  theme?: 'light' | 'dark' | 'auto' | undefined
  /** Numbers and dates are written in its way; that of the browser unless given. */
  locale?: string | undefined
  /** Replace those that are named. Make it once, outside of the component. */
  texts?: Partial<Texts> | undefined
  /** A flow came to another status. */
  onFlow?: ((told: FlowTold) => void) | undefined
  children: ReactNode
}

/** Draws parts of the widget in a shadow root of their own, without its frame. It stands below an `EarnProvider`. */
export function EarnParts(props: EarnPartsProps): ReactNode {
  const { distributorId, account, theme = 'auto', locale, texts, onFlow, children } = props
  const { earn } = useEarn()
  const told = useRef(onFlow)
  told.current = onFlow
  const settings = useMemo((): Settings => {
    const all: Texts = { ...englishTexts, ...texts }
    return {
      ...{ distributorId, account, vaults: undefined, slot: slotOf(earn.baseUrl, account) },
      figures: createFigures(locale),
      say: (name: TextName, values?: Readonly<Record<string, string>>) => fill(all[name], values),
      onFlow: (flow) => told.current?.(flow),
    }
  }, [earn.baseUrl, distributorId, account, locale, texts])
  return (
    <Shadow dir={undefined}>
      <SettingsContext.Provider value={settings}>
        <div className="root stack bare" data-theme={theme}>
          {children}
        </div>
      </SettingsContext.Provider>
    </Shadow>
  )
}
