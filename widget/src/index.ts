/**
 * `<EarnWidget>`: vaults, deposits, withdrawals, requests and rewards of an OpenEarn service as one React component. It is drawn in a
 * shadow root, and its flows and checks are those of `@openearn/react` and `@openearn/sdk`.
 */
export { EarnWidget, type EarnWidgetProps } from './EarnWidget.js'
export type { FlowTold } from './settings.js'
export { englishTexts, type TextName, type Texts } from './texts.js'
export type { Wallet } from './wallets.js'
