import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isLoopback, networkOf } from '../../features/limits/index.js'
import type { Clock } from '../../kernel/clock.js'
import type { Config } from '../../kernel/config.js'
import { permissionDenied, resourceExhausted, unauthorized } from '../../kernel/errors.js'
import { readAuthorization } from '../http/head.js'

const wrongMax = 10
const minuteMs = 60_000
/** Networks of which wrong tokens are counted in one minute; when there are more, nobody else may try. */
const networksMax = 10_000

/** The paths that watch the service: open by setting. `/healthz` tells nothing, so it is open always. */
const probes = ['/readyz', '/metrics']

type Settings = Pick<Config, 'operatorUrl' | 'operatorToken' | 'operatorTokenUntil' | 'opsProbesOpen'>

/**
 * Guards a listener against pages of elsewhere: a name that was made to lead here is not a known `Host`, and a page of another
 * origin is refused by its `Origin`. `/healthz` may be asked by any name. Open probes may be asked by any address, as an
 * orchestrator does: only a name can be made to lead elsewhere.
 */
export function guardListener(app: FastifyInstance, { operatorUrl, opsProbesOpen }: Settings): void {
  const own = operatorUrl === undefined ? undefined : new URL(operatorUrl)
  app.addHook('onRequest', async ({ headers, raw }, reply) => {
    reply.header('X-Content-Type-Options', 'nosniff').header('X-Frame-Options', 'DENY')
    reply.header('Cross-Origin-Resource-Policy', 'same-origin').header('Referrer-Policy', 'no-referrer')
    const host = readHost(headers.host)
    const [path = ''] = (raw.url ?? '').split('?')
    const isKnown = host !== undefined && (host.host === own?.host || isLoopbackName(host.hostname))
    const isOpen = path === '/healthz' || (opsProbesOpen && probes.includes(path) && isAddress(host?.hostname))
    if (!isKnown && !isOpen)
      throw permissionDenied('this listener is not known by that name; call it by localhost, or set OPERATOR_URL')
    const { origin } = headers
    if (origin !== undefined && origin !== `http://${host?.host}` && origin !== own?.origin)
      throw permissionDenied('pages of other origins may not call this listener; open its own page')
  })
}

/** The name and port of a `Host`; undefined for what is more or less than that. */
function readHost(text: string | undefined): URL | undefined {
  if (text === undefined || !/^[\w.:[\]-]+$/.test(text) || !URL.canParse(`http://${text}`)) return undefined
  return new URL(`http://${text}`)
}

/** The address in a hostname of a url: that of IPv6 stands in brackets there. */
const bare = (hostname: string) => hostname.replace(/^\[(.*)\]$/, '$1')
const isAddress = (hostname = '') => isIP(bare(hostname)) !== 0
const isLoopbackName = (hostname: string) => hostname === 'localhost' || isLoopback(bare(hostname))

/**
 * Admits who sends `OPERATOR_TOKEN` as `Authorization: Bearer`. @throws EarnError 401 without it, with another, after its end;
 * 429 for a network that sent 10 wrong ones in this minute, whatever it sends.
 */
export function createAdmit(settings: Settings, clock: Clock): (request: FastifyRequest) => void {
  const { operatorToken, operatorTokenUntil } = settings
  const wrong = new Map<string, number>()
  let minute = 0
  return ({ raw, ip }) => {
    if (operatorToken === undefined)
      throw unauthorized('there is no operator token: the data folder takes none; set OPERATOR_TOKEN')
    const now = clock.now().getTime()
    if (Math.floor(now / minuteMs) !== minute) wrong.clear()
    minute = Math.floor(now / minuteMs)
    const network = networkOf(ip)
    const tried = wrong.get(network) ?? (wrong.size < networksMax ? 0 : wrongMax)
    if (tried >= wrongMax) {
      const retryAfterSeconds = Math.ceil(((minute + 1) * minuteMs - now) / 1_000)
      throw resourceExhausted('too many wrong operator tokens; wait a minute', { retryAfterSeconds })
    }
    const given = readAuthorization(raw)
    if (given === undefined) throw unauthorized('send the operator token as Authorization: Bearer')
    if (!isSame(given, `Bearer ${operatorToken}`)) {
      wrong.set(network, tried + 1)
      throw unauthorized(
        'this is not the operator token; it is OPERATOR_TOKEN, or is in the file operator-token of the data folder',
      )
    }
    if (operatorTokenUntil !== undefined && now >= operatorTokenUntil.getTime())
      throw unauthorized('the operator token has expired; set a new OPERATOR_TOKEN and its OPERATOR_TOKEN_UNTIL')
  }
}

/** Compares in a time that tells nothing of the token, its length included. */
function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(wanted))
}
