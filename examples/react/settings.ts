import { createEarnClient } from '@openearn/sdk'

type Env = { VITE_EARN_URL: string; VITE_EARN_KEY: string; VITE_DISTRIBUTOR: string }
const { VITE_EARN_URL, VITE_EARN_KEY, VITE_DISTRIBUTOR } = (import.meta as unknown as { env: Env }).env

/** Add `trust`, the file of `openearn trust export`, so that the addresses of a plan are not the service's word. */
export const earn = createEarnClient({ baseUrl: VITE_EARN_URL, apiKey: VITE_EARN_KEY })
export const distributorId = VITE_DISTRIBUTOR
