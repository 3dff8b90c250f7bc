import { useInsertionEffect, useState } from 'react'

const themes = ['auto', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]
export type ShownTheme = { theme: Theme; setTheme(theme: Theme): void }

const key = 'openearn:theme'

/** Kept where the browser lets a page keep something; nothing depends on it. */
function readKept(): Theme {
  try {
    return themes.find((each) => each === localStorage.getItem(key)) ?? 'auto'
  } catch {
    // Storage is refused: the theme of the system.
    return 'auto'
  }
}

function keep(theme: Theme): void {
  try {
    localStorage.setItem(key, theme)
  } catch {
    // Storage is refused: the choice lasts as long as the page.
  }
}

export function useTheme(): ShownTheme {
  const [theme, setTheme] = useState(readKept)
  // Before the page is drawn: afterwards each of its styles would be found anew.
  useInsertionEffect(() => {
    document.documentElement.dataset['theme'] = theme
  }, [theme])
  return {
    theme,
    setTheme: (next) => {
      keep(next)
      setTheme(next)
    },
  }
}

/** The theme after this one. */
export const nextTheme = (theme: Theme): Theme => themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'auto'
