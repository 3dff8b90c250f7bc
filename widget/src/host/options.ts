import type { Trust } from '@openearn/sdk'
import type { Provider } from '@openearn/sdk/wallet'

/** The words, colours and vaults that the frame shows. */
export type HostSettings = {
  /** The builder code of this page. */
  distributorId: string
  vaults?: readonly string[] | undefined
  theme?: 'light' | 'dark' | 'auto' | undefined
  dir?: 'ltr' | 'rtl' | undefined
  locale?: string | undefined
  texts?: Readonly<Record<string, string>> | undefined
}

/** A flow came to another status. It is the frame's word. */
export type FrameEvent = { kind: string; status: string; txHash?: string | undefined }

export type HostOptions = HostSettings & {
  /** The wallet of this page, as EIP-1193 has it. */
  provider: Provider
  /** The addresses that everything is compared with: the file of `openearn trust export`, shipped with this page. */
  trust: Trust
  /** The user wants to connect a wallet; `eth_requestAccounts` of the wallet unless given. */
  onConnect?: (() => void) | undefined
  onEvent?: ((event: FrameEvent) => void) | undefined
  /** Called with the height of what the frame shows, in pixels; the height of the frame is set to it unless given. */
  onHeight?: ((pixels: number) => void) | undefined
  /** Shows the sentences of a request to the user before the wallet is asked; false: it is not. */
  review?: ((told: { kind: string; sentences: string[]; confirm: string | undefined }) => Promise<boolean>) | undefined
  /** The most slippage, in hundredths of a percent; 100 unless given. */
  slippageBpsMax?: number | undefined
  /** The address of this page for memberships; that of the page without its query unless given. */
  url?: string | undefined
}

export const urlOf = ({ url }: Pick<HostOptions, 'url'>): string => url ?? location.origin + location.pathname
