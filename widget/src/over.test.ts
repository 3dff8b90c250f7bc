import { isLast } from '@openearn/sdk/flows'
import { expect, it } from 'vitest'
import { isOver } from './over.js'
import { englishTexts } from './texts.js'

const statuses = Object.keys(englishTexts).flatMap((name) => (name.startsWith('status ') ? [name.slice(7)] : []))

it('a flow is over where the sdk says so, in each status that has a text', () => {
  expect(statuses.length).toBeGreaterThan(15)
  for (const status of statuses) expect([status, isOver({ status })]).toEqual([status, isLast({ status })])
})
