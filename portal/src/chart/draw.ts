import { type Point, thin, toRuns, toTicks, type ValueRange, writeTicks } from './scale.js'

/** The box of a chart in CSS pixels, and where its lines stand. */
export type Frame = {
  width: number
  height: number
  left: number
  right: number
  top: number
  bottom: number
  from: number
  to: number
  least: number
  most: number
}

export type Colours = { line: string; fill: string; grid: string; text: string; font: string }

export type Written = { value(value: number, digits?: number): string; time(at: number): string }

const axisRoom = { right: 12, top: 12, bottom: 26 } as const

export function toFrame(
  points: readonly Point[],
  { least, most }: ValueRange,
  { width, height, left }: { width: number; height: number; left: number },
): Frame {
  const from = points[0]?.at ?? 0
  const to = points.at(-1)?.at ?? 0
  return {
    ...{
      width,
      height,
      left,
      right: width - axisRoom.right,
      top: axisRoom.top,
      bottom: height - axisRoom.bottom,
    },
    ...{ from: from === to ? from - 1 : from, to: from === to ? to + 1 : to, least, most },
  }
}

export const toX = ({ left, right, from, to }: Frame, at: number): number =>
  left + ((at - from) / (to - from)) * (right - left)
export const toY = ({ top, bottom, least, most }: Frame, value: number): number =>
  bottom - ((value - least) / (most - least || 1)) * (bottom - top)
export const toTime = ({ left, right, from, to }: Frame, x: number): number =>
  from + Math.min(1, Math.max(0, (x - left) / (right - left))) * (to - from)

/** Room for the longest text of the axis of values. */
export function measureLeft(
  context: CanvasRenderingContext2D,
  { least, most }: ValueRange,
  colours: Colours,
  written: Written,
): number {
  context.font = colours.font
  const texts = writeTicks(toTicks(least, most, 4), written.value)
  const widths = texts.map((text) => context.measureText(text).width)
  return Math.ceil(Math.max(24, ...widths)) + 10
}

/** Draws grid, axes and the line. The context is scaled to CSS pixels. */
export function draw(
  context: CanvasRenderingContext2D,
  points: readonly Point[],
  frame: Frame,
  colours: Colours,
  written: Written,
): void {
  context.clearRect(0, 0, frame.width, frame.height)
  drawAxes(context, frame, colours, written)
  const columns = Math.max(1, Math.round(frame.right - frame.left))
  context.lineWidth = 2
  context.lineJoin = 'round'
  for (const whole of toRuns(points)) {
    const run = thin(whole, columns)
    const line = new Path2D()
    run.forEach(({ at, value }, index) => {
      const [x, y] = [toX(frame, at), toY(frame, value)]
      if (index === 0) line.moveTo(x, y)
      else line.lineTo(x, y)
    })
    const [first, last] = [run[0], run.at(-1)]
    if (!first || !last) continue
    if (run.length === 1) {
      context.fillStyle = colours.line
      context.beginPath()
      context.arc(toX(frame, first.at), toY(frame, first.value), 3, 0, 2 * Math.PI)
      context.fill()
      continue
    }
    const area = new Path2D(line)
    area.lineTo(toX(frame, last.at), frame.bottom)
    area.lineTo(toX(frame, first.at), frame.bottom)
    context.fillStyle = colours.fill
    context.fill(area)
    context.strokeStyle = colours.line
    context.stroke(line)
  }
}

function drawAxes(context: CanvasRenderingContext2D, frame: Frame, colours: Colours, written: Written): void {
  context.font = colours.font
  context.fillStyle = colours.text
  context.strokeStyle = colours.grid
  context.lineWidth = 1
  context.textAlign = 'right'
  context.textBaseline = 'middle'
  const ticks = toTicks(frame.least, frame.most, 4)
  const texts = writeTicks(ticks, written.value)
  for (const [index, tick] of ticks.entries()) {
    const y = Math.round(toY(frame, tick)) + 0.5
    context.beginPath()
    context.moveTo(frame.left, y)
    context.lineTo(frame.right, y)
    context.stroke()
    context.fillText(texts[index] ?? '', frame.left - 8, y)
  }
  context.textBaseline = 'alphabetic'
  const count = Math.max(2, Math.min(6, Math.floor((frame.right - frame.left) / 110)))
  for (let index = 0; index < count; index++) {
    const at = frame.from + ((frame.to - frame.from) * index) / (count - 1)
    context.textAlign = index === 0 ? 'left' : index === count - 1 ? 'right' : 'center'
    context.fillText(written.time(at), toX(frame, at), frame.height - 8)
  }
}
