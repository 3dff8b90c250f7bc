import type { FastifyInstance } from 'fastify'
import { createAuthenticate } from '../src/features/auth/index.js'
import { openLimits } from '../src/features/limits/index.js'
import type { Operation } from '../src/kernel/operation.js'
import type { Context } from '../src/postgres/context.js'
import { buildPublicApp } from '../src/server/http/http.js'

/** The public listener with operations of the test's own instead of the service's. */
export function buildProbeApp<C extends Context>(ctx: C, operations: readonly Operation<C>[]): FastifyInstance {
  return buildPublicApp({ ctx, operations, authenticate: createAuthenticate(ctx), limits: openLimits(ctx) })
}
