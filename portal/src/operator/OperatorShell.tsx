import type { ReactNode } from 'react'
import { Frame } from '../shell/Frame.js'
import type { ShownTheme } from '../shell/theme.js'

type Props = {
  pages: readonly { path: string; name: string }[]
  path: string
  theme: ShownTheme
  /** Forgets the token; absent while there is none. */
  close: (() => void) | undefined
  children: ReactNode
}

const foot =
  'These pages read and change nothing. Run the command of a row on a machine with the settings of the service. The token ' +
  'stays in the memory of this page.'

/** The frame around every page of the operator. */
export function OperatorShell({ pages, path, theme, close, children }: Props): ReactNode {
  const closing = close && (
    <button type="button" onClick={close}>
      Close
    </button>
  )
  return (
    <Frame
      brand="Operator"
      theme={theme}
      menu={close && { label: 'Operator', pages, here: path }}
      tools={closing}
      foot={foot}
    >
      {children}
    </Frame>
  )
}
