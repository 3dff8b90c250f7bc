import { userInfo } from 'node:os'
import { readEnv } from '../kernel/config.js'

/** The account this program runs under, and who became it. */
export function findOsUser(): string {
  const name = readUserName()
  const before = readEnv()['SUDO_USER']
  return before ? `${before} as ${name}` : name
}

function readUserName(): string {
  try {
    return userInfo().username
  } catch {
    // An account without a name, as in a container.
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
