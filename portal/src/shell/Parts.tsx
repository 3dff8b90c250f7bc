import { EarnParts } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { usePortal } from '../portal.js'

/** The widget's parts with the portal's wallet and theme. */
export function Parts({ distributorId, children }: { distributorId: string; children: ReactNode }): ReactNode {
  const { wallet, theme } = usePortal()
  return (
    <EarnParts distributorId={distributorId} account={wallet.account} theme={theme.theme}>
      {children}
    </EarnParts>
  )
}
