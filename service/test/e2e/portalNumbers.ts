import type { Page } from 'playwright-core'

/** A figure that a page shows: the ids of what it belongs to, innermost first, its member, its exact value and its text. */
type ShownFigure = { ids: string[]; name: string; value: string; text: string }

export type Shown = { figures: ShownFigure[]; times: string[]; loose: string[] }

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
    for (const each of document.querySelectorAll('main data[data-name]')) {
      const ids = []
      for (let at = each.closest('[data-id]'); at; at = at.parentElement.closest('[data-id]')) ids.push(at.dataset.id)
      figures.push({ ids, name: each.dataset.name, value: each.value, text: each.firstChild?.data ?? '' })
    }
    for (const each of document.querySelectorAll('main time')) times.push(each.dateTime)
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

/** What the answers say of a figure: of the object that its row names, else wherever its member is told. */
export function findTold({ ids, name }: Pick<ShownFigure, 'ids' | 'name'>, answers: readonly unknown[]): string[] {
  const path = name.split('.')
  const [id] = ids
  if (id === undefined) return answers.flatMap((each) => valuesAnywhere(each, path)).map(String)
  return answers.flatMap((each) => findAll(each, id.split(' '), path)).map(String)
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

/** Instants anywhere in the answers, as milliseconds. */
export function listInstants(value: unknown): Set<number> {
  const found = new Set<number>()
  const visit = (each: unknown): void => {
    if (isHolder(each)) Object.values(each).forEach(visit)
    else if (typeof each === 'string' && /^\d{4}-\d\d-\d\dT/.test(each)) found.add(Date.parse(each))
  }
  visit(value)
  return found
}
