import type { Queryable } from '../postgres/pool.js'
import { inTurn } from '../rpc/inTurn.js'
import type { Node } from '../rpc/node.js'
import type { RawBlock } from '../rpc/raw.js'
import type { Above, AnyProjection, Question as QuestionOf } from './projection.js'

type Question = QuestionOf<unknown>

/** Questions of a projection, by its name. */
export type Asked = { name: string; questions: readonly Question[] }

/** Blocks about which contracts are asked at a time. */
const blocksInFlight = 8

/** Whether any projection may need contract views at blocks. */
export function mayObserve(node: Node, blocks: readonly RawBlock[]): boolean {
  return node.readViews !== undefined && blocks.some(({ logs }) => logs.length > 0)
}

/** The contract views that projections need at blocks. */
export async function listQuestions(
  db: Queryable,
  input: {
    chainId: number
    opened: readonly { projection: AnyProjection; config: unknown }[]
    blocks: readonly RawBlock[]
  },
): Promise<readonly Asked[]> {
  const { chainId, opened, blocks } = input
  return Promise.all(
    opened.flatMap(({ projection: { name, observations }, config }) =>
      observations
        ? [observations.want(db, { chainId, config, blocks }).then((questions) => ({ name, questions }))]
        : [],
    ),
  )
}

/** Adds the results of contract views to blocks, at the parent and at each block. */
export async function readAnswers(
  node: Node,
  blocks: readonly RawBlock[],
  asked: readonly Asked[],
): Promise<readonly RawBlock[]> {
  const wanted = new Map<number, Asked[]>()
  for (const { name, questions } of asked)
    for (const [number, own] of groupByBlock(questions))
      wanted.set(number, [...(wanted.get(number) ?? []), { name, questions: own }])
  if (wanted.size === 0) return blocks
  const read = new Map<number, ReadonlyMap<string, readonly unknown[]>>()
  await inTurn(blocks, blocksInFlight, async (block) => {
    const own = wanted.get(block.number)
    if (own) read.set(block.number, await readBlock(node, own, block))
  })
  return blocks.map((block) => {
    const observations = read.get(block.number)
    return observations ? { ...block, observations } : block
  })
}

function groupByBlock(questions: readonly Question[]): Map<number, Question[]> {
  const groups = new Map<number, Question[]>()
  for (const question of questions) {
    const own = groups.get(question.blockNumber)
    if (own) own.push(question)
    else groups.set(question.blockNumber, [question])
  }
  return groups
}

async function readBlock(
  node: Node,
  asked: readonly Asked[],
  { hash, parentHash }: Pick<RawBlock, 'hash' | 'parentHash'>,
): Promise<ReadonlyMap<string, readonly unknown[]>> {
  const views = asked.flatMap(({ questions }) => questions.flatMap((question) => question.views))
  const [before = [], after = []] = await Promise.all([
    node.readViews?.(views, parentHash),
    node.readViews?.(views, hash),
  ])
  let at = 0
  const take = ({ views: own, read }: Question): unknown => {
    const [start, end] = [at, at + own.length]
    at = end
    const part = (all: readonly (bigint | undefined)[]) => own.map((_, index) => all[start + index])
    return read({ before: part(before), after: part(after) })
  }
  return new Map(asked.map(({ name, questions }) => [name, questions.map(take)]))
}

type Some = readonly { projection: AnyProjection }[]

/** Stores the results of contract views at blocks. */
export async function recordObservations(
  db: Queryable,
  { chainId, all, blocks }: { chainId: number; all: Some; blocks: readonly RawBlock[] },
): Promise<void> {
  for (const { projection } of all) {
    const { name, observations } = projection
    const said = blocks.flatMap(({ number, observations: own }) => {
      const answers = own?.get(name) ?? []
      return answers.length > 0 ? [{ blockNumber: number, answers }] : []
    })
    if (said.length > 0) await observations?.record(db, chainId, said)
  }
}

/** Adds the stored observations to blocks of the raw store. */
export async function withObservations(
  db: Queryable,
  { chainId, all, blocks }: { chainId: number; all: Some; blocks: readonly RawBlock[] },
): Promise<readonly RawBlock[]> {
  const [from, to] = [blocks[0]?.number, blocks.at(-1)?.number]
  if (from === undefined || to === undefined) return blocks
  const kept = new Map<string, ReadonlyMap<number, readonly unknown[]>>()
  for (const { projection } of all) {
    const own = await projection.observations?.list(db, { chainId, from, to })
    if (own && own.size > 0) kept.set(projection.name, own)
  }
  if (kept.size === 0) return blocks
  return blocks.map((block) => {
    const own = [...kept].flatMap(([name, byBlock]) => {
      const answers = byBlock.get(block.number)
      return answers ? [[name, answers] as const] : []
    })
    return own.length > 0 ? { ...block, observations: new Map(own) } : block
  })
}

/** Removes the results at orphaned blocks. */
export async function removeObservations(db: Queryable, all: Some, { chainId, number, tip }: Above): Promise<void> {
  const range = { chainId, from: number + 1, to: Math.max(number, tip) }
  for (const { projection } of all) await projection.observations?.remove(db, range)
}
