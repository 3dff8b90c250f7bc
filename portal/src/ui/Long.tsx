import { type ReactNode, useState } from 'react'
import { useFigures } from '../figures.js'

const step = 50

/** A list that may be very long: fifty at a time are drawn. */
export function Long<T>({
  items,
  children,
}: {
  items: readonly T[]
  children(shown: readonly T[]): ReactNode
}): ReactNode {
  const figures = useFigures()
  const [count, setCount] = useState(step)
  return (
    <>
      {children(items.slice(0, count))}
      {items.length > count && (
        <p>
          <button type="button" onClick={() => setCount(count + step)}>
            Show more of {figures.count(items.length)}
          </button>
        </p>
      )}
    </>
  )
}
