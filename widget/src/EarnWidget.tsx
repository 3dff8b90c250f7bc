'use client'

import { EarnProvider, type FlowStore } from '@openearn/react'
import type { EarnClient } from '@openearn/sdk'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import { createFigures } from './figures.js'
import { Pages } from './Pages.js'
import { Shadow } from './Shadow.js'
import { type FlowTold, type Settings, SettingsContext, slotOf } from './settings.js'
import { englishTexts, fill, type TextName, type Texts } from './texts.js'
import { WalletLine } from './WalletLine.js'
import { useDiscovered, type Wallet } from './wallets.js'

export type EarnWidgetProps = {
  /** The service. Make it once, outside of the component; with `trust`, so that the addresses of a plan are not its own word. */
  earn: EarnClient
  /** The builder code of the app. */
  distributorId: string
  /** The wallet of the app; null while it has none. Unless given the widget asks the wallets of the browser (EIP-6963). */
  wallet?: Wallet | null | undefined
  /** The user wants to connect a wallet: the app shows its own way to do so. */
  onConnect?: (() => void) | undefined
  /** Ids of the only vaults that are shown. */
  vaults?: readonly string[] | undefined
  /** `auto`, as the browser is set, unless given. */
  theme?: 'light' | 'dark' | 'auto' | undefined
  /** The direction of the page unless given. */
  dir?: 'ltr' | 'rtl' | undefined
  /** Numbers and dates are written in its way; that of the browser unless given. */
  locale?: string | undefined
  /** Replace those that are named. Make it once, outside of the component. */
  texts?: Partial<Texts> | undefined
  /** The address of the page that asks for a membership; `location.href` unless given. */
  url?: string | undefined
  /** Keeps flows for a reload; `localStorage` unless given. */
  store?: FlowStore | undefined
  /** A flow came to another status. */
  onFlow?: ((told: FlowTold) => void) | undefined
}

/** Vaults of a service: deposit, withdraw, claim. */
export function EarnWidget(props: EarnWidgetProps): ReactNode {
  const { earn, distributorId, onConnect, vaults, theme = 'auto', dir, locale, texts, url, store, onFlow } = props
  const [queries] = useState(() => new QueryClient())
  const discovered = useDiscovered()
  const isOwn = props.wallet === undefined
  const wallet = isOwn ? discovered.wallet : (props.wallet ?? undefined)
  const account = wallet?.account
  const figures = useMemo(() => createFigures(locale), [locale])
  const say = useMemo(() => {
    const all: Texts = { ...englishTexts, ...texts }
    return (name: TextName, values?: Readonly<Record<string, string>>) => fill(all[name], values)
  }, [texts])
  const told = useRef(onFlow)
  told.current = onFlow
  // A list that is written anew in each drawing is still the same.
  const ids = vaults?.join(',')
  const settings = useMemo((): Settings => {
    const list = ids === undefined ? undefined : ids.split(',').filter(Boolean)
    const slot = slotOf(earn.baseUrl, account)
    return { distributorId, vaults: list, account, slot, figures, say, onFlow: (flow) => told.current?.(flow) }
  }, [earn, distributorId, ids, account, figures, say])
  return (
    <Shadow dir={dir}>
      <QueryClientProvider client={queries}>
        <EarnProvider earn={earn} provider={wallet?.provider} url={url} store={store}>
          <SettingsContext.Provider value={settings}>
            <section className="root stack" data-theme={theme} aria-label={say('title')}>
              <WalletLine own={isOwn ? discovered : undefined} onConnect={onConnect} />
              <Pages key={account ?? ''} />
            </section>
          </SettingsContext.Provider>
        </EarnProvider>
      </QueryClientProvider>
    </Shadow>
  )
}
