import { createEarnClient, type EarnClient } from '@openearn/sdk'
import { type ReactNode, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { EarnWidget } from '../EarnWidget.js'
import { type Link, openLink } from './link.js'

/** The program of `/embed/{key}`: the widget in a frame of an app, whose wallet stays with that app. */
const place = document.querySelector<HTMLElement>('[data-key]')
const apiKey = place?.dataset['key']
// This file is /embed/files/…js below the address of the service. Apart, as a bundler would carry along what it names in one piece.
const { url } = import.meta
const baseUrl = new URL('../..', url).href

function Frame({ link, earn }: { link: Link; earn: EarnClient }): ReactNode {
  const [account, setAccount] = useState<`0x${string}`>()
  useEffect(() => link.onAccount(setAccount), [link])
  const {
    settings: { trust: _, ...settings },
    provider,
    connect,
    tell,
  } = link
  return (
    <EarnWidget
      earn={earn}
      wallet={account === undefined ? null : { provider, account }}
      onConnect={connect}
      onFlow={(event) => tell({ event })}
      {...settings}
    />
  )
}

if (place && parent !== window)
  void openLink().then((link) => {
    const { dir, trust } = link.settings
    const earn = createEarnClient({ baseUrl, apiKey, trust })
    if (dir) document.documentElement.dir = dir
    createRoot(place).render(<Frame link={link} earn={earn} />)
    new ResizeObserver(() => link.tell({ height: place.getBoundingClientRect().height })).observe(place)
  })
