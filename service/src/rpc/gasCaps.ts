/**
 * The most gas each kind of `eth_call` may use. A call that names no gas runs with all a node grants, up to seconds of
 * its time, so every call that runs code of others states one of these.
 */

/** A contract that judges a signature (ERC-1271), its creation by a wrapped one (ERC-6492) included. */
export const signatureGas = 5_000_000n

/** A simulated transaction: more does not fit into one (EIP-7825). */
export const transactionGasCap = 16_777_216n

/** A batch of reads or quotes, where the installation sets nothing else. */
export const readGasDefault = 50_000_000

/** Several simulated transactions of one `eth_simulateV1`: nodes refuse to be asked for more at once. */
export const blockGasCap = 48_000_000n
