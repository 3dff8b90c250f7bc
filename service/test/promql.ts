/** Reads expressions of PromQL as far as a test needs it: what they ask for, and whether their words are known. */

export type Selector = { metric: string; labels: readonly { name: string; operator: string; value: string }[] }
export type Expression = { selectors: readonly Selector[]; grouped: readonly string[]; problems: readonly string[] }

const functions = [
  'sum',
  'min',
  'max',
  'rate',
  'increase',
  'delta',
  'topk',
  'histogram_quantile',
  'avg_over_time',
  'vector',
]
const keywords = ['by', 'on', 'and', 'or', 'unless', 'bool']
const token =
  /\s*(?:("(?:[^"\\]|\\.)*")|(\d+(?:\.\d+)?(?:[smhd](?![a-z_]))?)|([a-zA-Z_:][\w:]*)|(=~|!~|!=|==|>=|<=|[-+*/%^=<>(){}[\],]))/y

function readTokens(text: string): string[] | undefined {
  const found: string[] = []
  token.lastIndex = 0
  while (token.lastIndex < text.trimEnd().length) {
    const match = token.exec(text)
    if (!match) return undefined
    found.push(match[0].trim())
  }
  return found
}

export function readExpression(text: string): Expression {
  const tokens = readTokens(text)
  if (!tokens) return { selectors: [], grouped: [], problems: [`not PromQL: ${text}`] }
  const selectors: Selector[] = []
  const grouped: string[] = []
  const problems: string[] = []
  const open: string[] = []
  const closes: Readonly<Record<string, string>> = { ')': '(', '}': '{', ']': '[' }
  for (let at = 0; at < tokens.length; at++) {
    const [word = '', next] = [tokens[at], tokens[at + 1]]
    if ('({['.includes(word)) open.push(word)
    else if (word in closes && open.pop() !== closes[word]) problems.push(`"${word}" closes nothing: ${text}`)
    if (!/^[a-zA-Z_:]/.test(word)) continue
    if (keywords.includes(word)) {
      if (word !== 'by' && word !== 'on') continue
      const end = tokens.indexOf(')', at)
      grouped.push(...tokens.slice(at + 2, end).filter((each) => each !== ','))
      at = end
    } else if (next === '(' || next === 'by') {
      if (!functions.includes(word)) problems.push(`no function: ${word}`)
    } else {
      const end = next === '{' ? tokens.indexOf('}', at) : at
      selectors.push({ metric: word, labels: readLabels(tokens.slice(at + 2, end)) })
      at = end
    }
  }
  if (open.length > 0) problems.push(`"${open.at(-1)}" is not closed: ${text}`)
  return { selectors, grouped, problems }
}

function readLabels(tokens: readonly string[]): Selector['labels'] {
  const labels: Selector['labels'][number][] = []
  for (let at = 0; at + 2 < tokens.length; at += 4)
    labels.push({ name: `${tokens[at]}`, operator: `${tokens[at + 1]}`, value: JSON.parse(`${tokens[at + 2]}`) })
  return labels
}
