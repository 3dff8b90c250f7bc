// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

/// @title A price feed of test networks: a proxy in front of aggregators, each a phase
/// @notice Answers as Chainlink's proxies do. Whoever calls sets what it says, nonsense too.
contract PriceFeed {
    struct Round {
        int256 answer;
        uint256 updatedAt;
        uint64 answeredIn;
    }

    uint8 public decimals;
    uint16 public phaseId;
    /// @dev Of a phase that is missing: zero.
    mapping(uint16 phase => Aggregator) public phaseAggregators;

    constructor(uint8 decimals_) {
        decimals = decimals_;
    }

    /// @notice Begins a phase; the rounds of one that is `missing` cannot be read.
    function beginPhase(bool missing) external {
        phaseId += 1;
        if (!missing) phaseAggregators[phaseId] = new Aggregator();
    }

    /// @notice Adds a round to the phase that runs. `answeredIn` 0: in this round.
    function push(int256 answer, uint256 updatedAt, uint64 answeredIn) external {
        phaseAggregators[phaseId].push(Round(answer, updatedAt, answeredIn));
    }

    function setDecimals(uint8 decimals_) external {
        decimals = decimals_;
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return _read(phaseId, uint64(phaseAggregators[phaseId].latestRound()));
    }

    function getRoundData(uint80 roundId) external view returns (uint80, int256, uint256, uint256, uint80) {
        return _read(uint16(roundId >> 64), uint64(roundId));
    }

    function _read(uint16 phase, uint64 id) internal view returns (uint80, int256, uint256, uint256, uint80) {
        Round memory round = phaseAggregators[phase].get(id);
        uint80 base = uint80(phase) << 64;
        uint64 answeredIn = round.answeredIn == 0 ? id : round.answeredIn;
        return (base | id, round.answer, round.updatedAt, round.updatedAt, base | answeredIn);
    }
}

/// @title The rounds of one phase
contract Aggregator {
    error NoSuchRound(uint64 id);

    PriceFeed.Round[] internal _rounds;

    function push(PriceFeed.Round calldata round) external {
        _rounds.push(round);
    }

    function latestRound() external view returns (uint256) {
        return _rounds.length;
    }

    function get(uint64 id) external view returns (PriceFeed.Round memory) {
        require(id > 0 && id <= _rounds.length, NoSuchRound(id));
        return _rounds[id - 1];
    }
}
