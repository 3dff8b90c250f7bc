import type { ReactNode } from 'react'

const tints = 8

/** Patterns of all letters are slow to make, and most names need none. */
const plain = /^[a-z\d ]*$/i
const toLetters = (name: string) => (plain.test(name) ? name : name.replace(/[^\p{L}\p{N} ]/gu, ''))

/** The first letters of a name, and the class of its colours. */
export function toAvatar(name: string): { letters: string; className: string } {
  const letters = [...toLetters(name)].slice(0, 2).join('').trim() || '?'
  const tint = [...name.slice(0, 100)].reduce((sum, each) => sum + (each.codePointAt(0) ?? 0), 0) % tints
  return { letters, className: `avatar tint-${tint}` }
}

/** The first letters of a name: pages ask no other origin for pictures. */
export function Avatar({ name }: { name: string }): ReactNode {
  const { letters, className } = toAvatar(name)
  return (
    <span className={className} aria-hidden="true">
      {letters}
    </span>
  )
}
