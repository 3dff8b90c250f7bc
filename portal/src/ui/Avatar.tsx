import type { ReactNode } from 'react'

const tints = 8

/** The first letters of a name: pages ask no other origin for pictures. */
export function Avatar({ name }: { name: string }): ReactNode {
  const letters = [...name.replace(/[^\p{L}\p{N} ]/gu, '')].slice(0, 2).join('').trim() || '?'
  const tint = [...name.slice(0, 100)].reduce((sum, each) => sum + (each.codePointAt(0) ?? 0), 0) % tints
  return (
    <span className={`avatar tint-${tint}`} aria-hidden="true">
      {letters}
    </span>
  )
}
