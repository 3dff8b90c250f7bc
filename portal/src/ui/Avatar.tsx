import type { ReactNode } from 'react'

const tints = 8

/** Patterns of all letters are slow to make, and most names need none. */
const plain = /^[a-z\d ]*$/i
const toLetters = (name: string) => (plain.test(name) ? name : name.replace(/[^\p{L}\p{N} ]/gu, ''))

/** The first letters of a name: pages ask no other origin for pictures. */
export function Avatar({ name }: { name: string }): ReactNode {
  const letters = [...toLetters(name)].slice(0, 2).join('').trim() || '?'
  const tint = [...name.slice(0, 100)].reduce((sum, each) => sum + (each.codePointAt(0) ?? 0), 0) % tints
  return (
    <span className={`avatar tint-${tint}`} aria-hidden="true">
      {letters}
    </span>
  )
}
