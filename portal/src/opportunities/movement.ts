import type { types } from '@openearn/sdk'

const days = [30, 7, 1] as const

/**
 * The values of a figure 30, 7 and 1 days ago and now, as far as the service knows them: each is the present one less its movement.
 * `x` is in days from 30 days ago.
 */
export function toPoints({ current, ...moved }: types.Movement): { x: number; y: number }[] {
  if (current === null) return []
  const past = days.flatMap((each) => {
    const change = moved[`d${each}`]
    return change === null ? [] : [{ x: 30 - each, y: current - change }]
  })
  return [...past, { x: 30, y: current }]
}

/** The points of an SVG polyline in a box; a flat line stands in its middle. */
export function toPolyline(points: readonly { x: number; y: number }[], width: number, height: number): string {
  const ys = points.map(({ y }) => y)
  const [least, most] = [Math.min(...ys), Math.max(...ys)]
  const placed = points.map(({ x, y }) => {
    const share = most === least ? 0.5 : (y - least) / (most - least)
    return `${((x / 30) * width).toFixed(1)},${(height - share * height).toFixed(1)}`
  })
  return placed.join(' ')
}
