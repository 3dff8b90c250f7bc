import type { types } from '@openearn/sdk'
import { cutName } from '@openearn/widget/parts'
import type { PortalFigures } from '../figures.js'
import { hrefOf } from '../place.js'
import { toAvatar } from '../ui/Avatar.js'
import { type Unit, writeValue } from '../ui/Num.js'
import { toPoints, toPolyline } from './movement.js'

/*
 * A row of the list; on a small screen a card. It is made of elements without React: a list has a thousand of them, and to make and
 * keep a copy of each costs a browser more than to draw it.
 */

type Part = Node | string | false | undefined

function make<K extends keyof HTMLElementTagNameMap>(tag: K, className: string, ...parts: Part[]) {
  const made = document.createElement(tag)
  if (className) made.className = className
  for (const part of parts) if (part) made.append(part)
  return made
}

/** A value of the service: null is one that it does not know. */
type Value = number | string | null | undefined

type Column = { label: string; as: Unit; name: string; none?: string }

function makeCell(figures: PortalFigures, value: Value, { label, as, name, none = '–' }: Column): HTMLElement {
  const isKnown = value !== null && value !== undefined
  const cell = isKnown ? makeData(value, name, 'cell figure') : make('span', 'cell figure muted', none)
  cell.dataset['label'] = label
  if (!isKnown) return cell
  const { text, title } = writeValue(figures, value, as)
  cell.textContent = text
  if (title !== undefined) cell.title = title
  return cell
}

/** The exact value stands in the element, its text is written as the reader's locale does. */
function makeData(value: number | string, name: string, className: string): HTMLDataElement {
  const data = make('data', className)
  data.value = `${value}`
  data.dataset['name'] = name
  return data
}

function makeMoved(figures: PortalFigures, value: number | null | undefined): HTMLElement {
  if (value === null || value === undefined) return make('span', 'figure muted', '–')
  const moved = makeData(value, 'deltas.tvl.d7', `figure ${value > 0 ? 'up' : value < 0 ? 'down' : 'muted'}`)
  moved.title = figures.usdExact(value)
  moved.textContent = figures.usdMoved(value)
  return moved
}

const svg = 'http://www.w3.org/2000/svg'
/** The place of a line in its picture, which has room for the ends of the stroke. */
const [width, height] = [78, 22] as const

/** The way of a figure over 30 days. It says no more than the figures next to it, so it is hidden from readers of the text. */
function makeSparkline(movement: types.Movement | undefined): Element {
  const points = movement ? toPoints(movement) : []
  // One day of thirty is a stroke that says nothing.
  if ((points[0]?.x ?? 30) > 23) return make('span', 'spark')
  const way = (points.at(-1)?.y ?? 0) - (points[0]?.y ?? 0)
  const picture = document.createElementNS(svg, 'svg')
  picture.setAttribute('class', `spark ${way > 0 ? 'up' : way < 0 ? 'down' : 'flat'}`)
  picture.setAttribute('aria-hidden', 'true')
  const line = document.createElementNS(svg, 'polyline')
  line.setAttribute('points', toPolyline(points, width, height))
  picture.append(line)
  return picture
}

function makeNames(vault: types.Opportunity, chainName: string): HTMLElement {
  const { name, curator, baseToken, meta, featured } = vault
  const tags = make(
    'span',
    'muted small tags',
    make('bdi', '', cutName(baseToken.symbol, 16)),
    make('bdi', '', cutName(chainName, 24)),
    curator ? make('bdi', '', cutName(curator.name, 32)) : undefined,
    featured && make('span', 'chip good', 'Featured'),
    !meta.depositEnabled && make('span', 'chip', 'Deposits closed'),
    meta.asyncDeposit && make('span', 'chip', 'Two steps'),
  )
  return make('span', 'names', make('bdi', 'strong', cutName(name, 80)), tags)
}

/** The elements of one opportunity. */
export function makeRow(vault: types.Opportunity, figures: PortalFigures, chainName: string): HTMLLIElement {
  const { id, name, baseToken, deltas, freshness, estimatedApr, tvl } = vault
  const { letters, className } = toAvatar(baseToken.symbol || name)
  const avatar = make('span', className, letters)
  avatar.setAttribute('aria-hidden', 'true')
  const isPriced = freshness.analyticsAt !== null
  const way = make('span', 'cell way', makeSparkline(deltas?.tvl), makeMoved(figures, deltas?.tvl.d7))
  way.dataset['label'] = 'TVL, 7 days'
  const cell = (value: Value, column: Column) => makeCell(figures, value, column)
  const link = make(
    'a',
    'vault',
    avatar,
    makeNames(vault, chainName),
    cell(deltas?.apy.current, { label: 'APY', as: 'percent', name: 'deltas.apy.current', none: 'withheld' }),
    cell(estimatedApr, { label: 'Rewards APR', as: 'percent', name: 'estimatedApr' }),
    cell(isPriced ? tvl : null, { label: 'TVL', as: 'usd', name: 'tvl', none: 'no price' }),
    cell(deltas?.lps.current, { label: 'Depositors', as: 'count', name: 'deltas.lps.current' }),
    way,
  )
  link.href = hrefOf(`opportunities/${id}`)
  const row = make('li', 'row', link)
  row.dataset['id'] = id
  return row
}
