import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { useFigures } from '../figures.js'
import { usePortal } from '../portal.js'
import { type Colours, draw, type Frame, measureLeft, toFrame, toTime, toX, toY, type Written } from './draw.js'
import { findNearest, type Point, toRange } from './scale.js'

type Props = {
  /** Names the series, for those who do not see it. */
  label: string
  points: readonly Point[]
  /** Writes a value in full, and short for the axis; with `digits` with that number of decimals. */
  full(value: number): string
  short(value: number, digits?: number): string
  /** The index of the point that the reader looks at. */
  onLook?(index: number): void
  /** The reader marked a range. */
  onRange?(from: number, to: number): void
}

const height = 300
/** A press that moves less marks nothing. */
const leastBrush = 8

const colourNames = { line: '--accent', fill: '--accent-soft', grid: '--line', text: '--muted' } as const

function readColours(element: Element): Colours {
  const style = getComputedStyle(element)
  const colours = Object.fromEntries(
    Object.entries(colourNames).map(([name, property]) => [name, style.getPropertyValue(property).trim()]),
  )
  return { ...colours, font: `12px ${style.fontFamily}` } as Colours
}

/** A line over time: looked at by pointer or arrow keys, a range is marked by drawing over it. */
export function LineChart({ label, points, full, short, onLook, onRange }: Props): ReactNode {
  const figures = useFigures()
  const { theme } = usePortal()
  const place = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const width = useWidth(place)
  const dark = useDarkness()
  const [frame, setFrame] = useState<Frame>()
  const [looked, setLooked] = useState<number>()
  const [brush, setBrush] = useState<{ from: number; to: number }>()
  const span = (points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0)
  const written = useMemo((): Written => ({ value: short, time: figures.axis(span) }), [short, figures, span])
  // Colours follow the theme: the drawing reads them from the page.
  useEffect(() => {
    const { current } = canvas
    const context = current?.getContext('2d')
    if (!current || !context || width === 0) return
    const scale = devicePixelRatio
    current.width = Math.round(width * scale)
    current.height = Math.round(height * scale)
    context.setTransform(scale, 0, 0, scale, 0, 0)
    const colours = readColours(current)
    const range = toRange(points)
    const next = toFrame(points, range, { width, height, left: measureLeft(context, range, colours, written) })
    draw(context, points, next, colours, written)
    setFrame(next)
  }, [points, width, written, theme.theme, dark])
  const last = points.length - 1
  const index = Math.min(looked ?? last, last)
  const point = points[index]
  const look = (next: number) => {
    const held = Math.max(0, Math.min(last, next))
    setLooked(held)
    onLook?.(held)
  }
  const xOf = (event: PointerEvent<HTMLDivElement>) => event.clientX - event.currentTarget.getBoundingClientRect().left
  const move = (event: PointerEvent<HTMLDivElement>) => {
    if (!frame) return
    const x = xOf(event)
    look(findNearest(points, toTime(frame, x)))
    if (brush) setBrush({ ...brush, to: x })
  }
  const press = (event: PointerEvent<HTMLDivElement>) => {
    if (!onRange || event.pointerType !== 'mouse' || event.button !== 0) return
    event.currentTarget.setPointerCapture(event.pointerId)
    setBrush({ from: xOf(event), to: xOf(event) })
  }
  const release = () => {
    if (frame && brush && Math.abs(brush.to - brush.from) > leastBrush) {
      const [one, other] = [toTime(frame, brush.from), toTime(frame, brush.to)]
      onRange?.(Math.min(one, other), Math.max(one, other))
    }
    setBrush(undefined)
  }
  const steps: Readonly<Record<string, number>> = {
    ...{ ArrowLeft: index - 1, ArrowRight: index + 1, ArrowDown: index - 1, ArrowUp: index + 1 },
    ...{ PageDown: index - 20, PageUp: index + 20, Home: 0, End: last },
  }
  const key = (event: KeyboardEvent<HTMLDivElement>) => {
    const next = steps[event.key]
    if (next === undefined) return
    event.preventDefault()
    look(next)
  }
  const told = point ? `${full(point.value)}, ${figures.time(point.at)}` : 'no value'
  return (
    <div className="chart">
      <p className="looked" aria-hidden="true">
        <span className="figure strong">{point ? full(point.value) : '–'}</span>
        <span className="muted small">{point ? figures.time(point.at) : ''}</span>
      </p>
      <div
        ref={place}
        className="plot"
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, last)}
        aria-valuenow={Math.max(0, index)}
        aria-valuetext={told}
        onPointerMove={move}
        onPointerDown={press}
        onPointerUp={release}
        onPointerCancel={() => setBrush(undefined)}
        onPointerLeave={() => setLooked(undefined)}
        onKeyDown={key}
      >
        <canvas ref={canvas} height={height} />
        {frame && point && looked !== undefined && (
          <>
            <span className="cross" style={{ transform: `translateX(${toX(frame, point.at)}px)` }} />
            <span
              className="dot"
              style={{ transform: `translate(${toX(frame, point.at)}px, ${toY(frame, point.value)}px)` }}
            />
          </>
        )}
        {brush && (
          <span
            className="brush"
            style={{ left: Math.min(brush.from, brush.to), width: Math.abs(brush.to - brush.from) }}
          />
        )}
      </div>
    </div>
  )
}

/** The width of an element, which is drawn anew when it changes. */
function useWidth(place: { current: Element | null }): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const { current } = place
    if (!current) return undefined
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)))
    observer.observe(current)
    return () => observer.disconnect()
  }, [place])
  return width
}

/** Whether the system wants dark colours: a drawing has to follow. */
function useDarkness(): boolean {
  const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches)
  useEffect(() => {
    const list = matchMedia('(prefers-color-scheme: dark)')
    const hear = () => setDark(list.matches)
    list.addEventListener('change', hear)
    return () => list.removeEventListener('change', hear)
  }, [])
  return isDark
}
