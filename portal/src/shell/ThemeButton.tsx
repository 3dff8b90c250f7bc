import type { ReactNode } from 'react'
import { nextTheme, type ShownTheme } from './theme.js'

const themeNames = { auto: 'as the system', light: 'light', dark: 'dark' } as const
const themeMarks = { auto: '◐', light: '☀', dark: '☾' } as const

/** Shows which colours are used; a press takes the next ones. */
export function ThemeButton({ shown: { theme, setTheme } }: { shown: ShownTheme }): ReactNode {
  return (
    <button
      type="button"
      className="icon"
      aria-label={`Colours: ${themeNames[theme]}. Press for another.`}
      title={`Colours: ${themeNames[theme]}`}
      onClick={() => setTheme(nextTheme(theme))}
    >
      <span aria-hidden="true">{themeMarks[theme]}</span>
    </button>
  )
}
