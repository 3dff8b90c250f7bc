import type { Page } from 'playwright-core'

/**
 * A figure or instant that a page shows: the ids of what it belongs to, innermost first, its member, its exact value, and its text.
 */
export type ShownFigure = { ids: string[]; name: string; value: string; text: string }

export type Shown = { figures: ShownFigure[]; times: ShownFigure[]; loose: string[] }

/** What the service answered a page at a url. */
export type Answer = { url: string; body: unknown }

/** Texts with a digit that is no figure of the service: names of intervals, and of forms. */
const wordings = [
  /^(APY, 30 days|TVL, 7 days|Reorganisations, 24 h)$/,
  /^ ?in (7|30) days$/,
  /^(24h|\d+d|1y|1h)$/,
  /rather than 0\.$/,
]

/** Every figure and instant of a page's content, and each other text with a digit in it that is not a name, a code or a wording. */
export async function readShown(tab: Page): Promise<Shown> {
  const shown: Shown = await tab.evaluate(`(() => {
    const figures = [], times = [], loose = []
    const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      if (/[0-9]/.test(node.data) && !node.parentElement.closest('data, time, code, pre, bdi, [dir=auto], option, input, h1, button, .chart, .avatar'))
        loose.push(node.data.trim())
    const tell = (each, value) => {
      const ids = []
      for (let at = each.closest('[data-id]'); at; at = at.parentElement.closest('[data-id]')) ids.push(at.dataset.id)
      return { ids, name: each.dataset.name ?? '', value, text: each.firstChild?.data ?? '' }
    }
    for (const each of document.querySelectorAll('main data[data-name]')) figures.push(tell(each, each.value))
    for (const each of document.querySelectorAll('main time')) times.push(tell(each, each.dateTime))
    return { figures, times, loose }
  })()`)
  return { ...shown, loose: shown.loose.filter((text) => !wordings.some((each) => each.test(text))) }
}

type Holder = { readonly [member: string]: unknown }
const isHolder = (value: unknown): value is Holder => typeof value === 'object' && value !== null

/** Whether a value is told anywhere within. */
const tells = (value: unknown, text: string): boolean =>
  isHolder(value) ? Object.values(value).some((each) => tells(each, text)) : `${value}` === text

/** The values of a member by its path, of each element where a list lies on the way. */
function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  const [first, ...rest] = path
  if (Array.isArray(value) && /^\d+$/.test(first ?? '')) return valuesAt(value[Number(first)], rest)
  if (Array.isArray(value)) return value.flatMap((each) => valuesAt(each, path))
  if (first === undefined) return [value]
  return isHolder(value) && first in value ? valuesAt(value[first], rest) : []
}

/** The values of a member in the innermost objects that have it and tell all of these texts. */
function findAll(value: unknown, texts: readonly string[], path: readonly string[]): unknown[] {
  if (!isHolder(value) || !texts.every((text) => tells(value, text))) return []
  const within = Object.values(value).flatMap((each) => findAll(each, texts, path))
  return within.length > 0 || Array.isArray(value) ? within : valuesAt(value, path)
}

/** The values of a member wherever it is told. */
function valuesAnywhere(value: unknown, path: readonly string[]): unknown[] {
  const own = Array.isArray(value) ? [] : valuesAt(value, path)
  return isHolder(value) ? [...own, ...Object.values(value).flatMap((each) => valuesAnywhere(each, path))] : own
}

/** The different values that an answer has at the place of a figure: in what its row names, else wherever its member is told. */
function valuesOf({ ids: [id], name }: ShownFigure, { body }: Answer): string[] {
  const path = name.split('.')
  const found = id === undefined ? valuesAnywhere(body, path) : findAll(body, id.split(' '), path)
  return [...new Set(found.filter((each) => each !== null).map(String))]
}

/** What a figure may be: the one value of its place, or one that the same url answered before. `problem`: it has no place of its own. */
export function findTold(figure: ShownFigure, answers: readonly Answer[]): { told: Set<string>; problem?: string } {
  const [newest, told] = [new Map<string, string[]>(), new Set<string>()]
  // The row around it may be named by the path that its answer was asked at.
  const outer = figure.ids.slice(1)
  const own = answers.filter(({ url }) => outer.some((id) => url.includes(id)))
  for (const answer of own.some((each) => valuesOf(figure, each).length > 0) ? own : answers) {
    const values = valuesOf(figure, answer)
    if (values.length > 1) return { told, problem: `an answer of ${answer.url} has ${values.join(', ')} at its place` }
    if (values.length === 1) newest.set(answer.url, values)
    for (const each of values) told.add(each)
  }
  if (new Set([...newest.values()].flat()).size > 1)
    return { told, problem: `several answers tell it: ${[...newest.keys()].join(', ')}` }
  return { told }
}

/** Whether a text in English is a value, rounded to the digits that it shows; in percent, US dollars, or whole tokens of a smallest unit. */
export function isWritten({ value, text }: ShownFigure): boolean {
  const [digits = ''] = /-?\$?[\d,]+(\.\d+)?/.exec(text.replace('−', '-')) ?? []
  const shown = Number(digits.replace(/[$,]/g, ''))
  const places = digits.split('.')[1]?.length ?? 0
  const told = Number(value)
  if (digits === '' || Number.isNaN(told)) return false
  const isNear = (wanted: number) => Math.abs(shown - wanted) <= 0.5000001 * 10 ** -places + Math.abs(wanted) * 1e-15
  return isNear(told) || (/^\d+$/.test(value) && [6, 8, 18].some((decimals) => isNear(told / 10 ** decimals)))
}
