import type { ReactNode } from 'react'
import { Title } from './ui/Title.js'

const figures: readonly { name: string; formula?: string; text: string }[] = [
  {
    name: 'TVL',
    formula: 'assets of the vault × price of its asset',
    text: 'Assets are what the vault itself says at a block. Without a price the TVL is not shown, rather than 0.',
  },
  {
    name: 'Share price',
    formula: 'assets ÷ shares',
    text: 'In the vault’s own asset, with the rounding that the vault’s own conversion has.',
  },
  {
    name: 'APR',
    formula: '(to ÷ from − 1) × (365 days ÷ interval) × 100',
    text: 'Of two share prices, read at two blocks at least the interval apart. Losses are negative.',
  },
  {
    name: 'APY',
    formula: '((to ÷ from) ^ (365 days ÷ interval) − 1) × 100',
    text: 'The same growth, compounded. A vault whose growth is told in another way than by its shares uses that source; the chart names it.',
  },
  {
    name: 'Rewards APR',
    formula: 'sum of the APR of the active rewards',
    text: 'An estimate that can change with prices and with what is deposited. Points have no rate.',
  },
  {
    name: 'Depositors',
    text: 'Wallets that hold shares now. A staking contract that keeps shares for others counts as those others where the service knows it.',
  },
  {
    name: 'Earned',
    formula: 'now + withdrawn − deposited',
    text: 'Of one position of one wallet, in the vault’s asset; in US dollars by the prices of each day. It rests on confirmed blocks.',
  },
  {
    name: 'Brought by',
    text: 'The builder code in the calldata of the transaction, where its signature is valid for the wallet, the target and the call. Unsigned and older forms are marked as such.',
  },
]

/** The formula of each figure. */
export function MethodologyPage(): ReactNode {
  return (
    <>
      <Title text="How figures are computed">
        Each can be computed again from the chain: `openearn recompute` does it.
      </Title>
      <div className="stack">
        {figures.map(({ name, formula, text }) => (
          <section key={name} className="card stack tight" aria-label={name}>
            <h2>{name}</h2>
            {formula && (
              <p>
                <code>{formula}</code>
              </p>
            )}
            <p className="muted">{text}</p>
          </section>
        ))}
        <section className="card stack tight" aria-label="Withheld">
          <h2>Withheld</h2>
          <p className="muted">
            A rate is withheld where readings are missing or too old, where the vault’s growth cannot be told, or where
            a donation or a price made it meaningless. The reason stands in its place.
          </p>
        </section>
      </div>
    </>
  )
}
