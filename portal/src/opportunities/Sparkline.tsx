import type { types } from '@openearn/sdk'
import type { ReactNode } from 'react'
import { toPoints, toPolyline } from './movement.js'

const [width, height, edge] = [84, 26, 3] as const

/** The way of a figure over 30 days. It says no more than the figures next to it, so it is hidden from readers of the text. */
export function Sparkline({ movement }: { movement: types.Movement | undefined }): ReactNode {
  const points = movement ? toPoints(movement) : []
  // One day of thirty is a stroke that says nothing.
  if ((points[0]?.x ?? 30) > 23) return <span className="spark" />
  const way = (points.at(-1)?.y ?? 0) - (points[0]?.y ?? 0)
  const kind = way > 0 ? 'up' : way < 0 ? 'down' : 'flat'
  const box = `${-edge} ${-edge} ${width + 2 * edge} ${height + 2 * edge}`
  return (
    <svg className={`spark ${kind}`} viewBox={box} aria-hidden="true" preserveAspectRatio="none">
      <polyline points={toPolyline(points, width, height)} vectorEffect="non-scaling-stroke" />
    </svg>
  )
}
