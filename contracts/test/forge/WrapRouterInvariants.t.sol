// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ILendingPool, StaticAToken} from "../../src/devnet/StaticAToken.sol";
import {StakedToken} from "../../src/devnet/StakedToken.sol";
import {WrappedStakedToken} from "../../src/devnet/WrappedStakedToken.sol";
import {DepositRouter} from "../../src/router/DepositRouter.sol";
import {Targets} from "./Targets.sol";
import {ToldWrapper} from "./ToldWrapper.sol";
import {OpenStaked} from "./tokens/OpenStaked.sol";
import {OpenToken} from "./tokens/OpenToken.sol";
import {ScaledToken} from "./tokens/ScaledToken.sol";
import {vm} from "./Vm.sol";
import {encodeWay, isIn, Way} from "./WrapRouter.t.sol";

/// @dev Ways of anybody into wrappers and out of them: published ones whose rates move, and one that changes its ways.
contract WrapRouterHandler {
    struct Tally {
        uint256 done;
        uint256 refusals;
        uint256 belowMinimum;
        uint256 donations;
    }

    struct Pair {
        address wrapper;
        address token;
    }

    /// A balance of shares times a rate may show a unit or two less or more than was named.
    uint256 private constant ROUNDED = 2;

    DepositRouter private immutable _router = new DepositRouter();
    StakedToken private immutable _staked = new StakedToken();
    WrappedStakedToken private immutable _wrapped = new WrappedStakedToken(_staked);
    OpenToken private immutable _asset = new OpenToken();
    ScaledToken private immutable _lent = new ScaledToken(_asset);
    StaticAToken private immutable _static =
        new StaticAToken(ILendingPool(address(_lent)), IERC20(_asset), IERC20(address(_lent)));
    OpenStaked private immutable _open = new OpenStaked();
    ToldWrapper private immutable _told = new ToldWrapper(_open);
    address[3] private _people = [address(0x3001), address(0x3002), address(0x3003)];
    uint256 private _index = 1e27;
    /// What the router was sent: of what rounds in its own units.
    mapping(address token => uint256) private _donated;
    mapping(Way way => uint256) private _doneBy;
    Tally private _tally;
    bool private _minimumBroken;
    bool private _othersMoved;

    constructor() {
        for (uint256 i = 0; i < 3; i++) {
            address person = _people[i];
            vm.deal(person, 1e24);
            vm.prank(person);
            _staked.submit{value: 1e24}(address(0));
            _asset.mint(person, 1e24);
            vm.startPrank(person);
            _asset.approve(address(_lent), 1e24);
            _lent.supply(address(_asset), 1e24, person, 0);
            _staked.approve(address(_wrapped), 3e23);
            _wrapped.wrap(3e23);
            _lent.approve(address(_static), 3e23);
            _static.depositATokens(3e23, person);
            vm.stopPrank();
            _open.mint(person, 1e30);
            _told.mint(person, 1e30);
        }
    }

    /// @dev The rates move: up and down, as an oracle reports, and up alone, as a market pays.
    function move(uint256 reported, uint256 paid) external {
        uint256 pooled = _staked.totalSupply();
        pooled = pooled * (9_000 + reported % 2_001) / 10_000;
        // Below one ether a share nothing is left that rounds.
        if (pooled > _staked.getTotalShares()) _staked.report(pooled);
        // Up to a rate of three, so that a rounded share is less than two units.
        if (_index < 27e26) _index += paid % (_index / 10);
        _lent.setIndex(_index);
    }

    /// @dev Half of the time it keeps its word.
    function tell(uint256 waySeed, uint256 share, uint256 personSeed) external {
        ToldWrapper.Orders memory orders;
        (orders.takes, orders.gives) = (100, 50 + share % 100);
        uint256 way = waySeed % 10;
        if (way == 0) orders.takes = share % 200;
        if (way == 1) orders.to = _people[personSeed % 3];
        if (way == 2 || way == 0) orders.ignoresAllowance = true;
        if (way == 3) orders.pays = _asset;
        if (way == 4) {
            orders.callsBack = encodeWay(
                Way(personSeed % 5), address(_told), address(_open), 1 + share % 1e18, _people[personSeed % 3], 1
            );
        }
        _told.order(orders);
    }

    function setFee(uint256 feeSeed) external {
        _open.setFee(feeSeed % 4 == 0 ? feeSeed % 100 : 0);
    }

    function donate(uint256 personSeed, uint256 amount) external {
        vm.startPrank(_people[personSeed % 3]);
        amount %= 1e9;
        if (amount < _staked.balanceOf(_people[personSeed % 3])) {
            uint256 shares = _staked.sharesOf(address(_router));
            _staked.transfer(address(_router), amount);
            _donated[address(_staked)] += _staked.sharesOf(address(_router)) - shares;
        }
        if (amount < _lent.balanceOf(_people[personSeed % 3])) {
            uint256 scaled = _lent.scaledBalanceOf(address(_router));
            _lent.transfer(address(_router), amount);
            _donated[address(_lent)] += _lent.scaledBalanceOf(address(_router)) - scaled;
        }
        vm.stopPrank();
        _told.mint(address(_router), amount);
        _donated[address(_told)] += amount;
        _open.mint(address(_router), amount);
        _donated[address(_open)] += amount;
        _tally.donations++;
    }

    function go(uint256 waySeed, uint256 pairSeed, uint256 peopleSeed, uint256 amountSeed, uint256 minimumSeed)
        external
    {
        Way way = Way(waySeed % 5);
        Pair memory pair = pairOf(way, pairSeed);
        IERC20 given = IERC20(isIn(way) ? pair.token : pair.wrapper);
        IERC20 got = IERC20(isIn(way) ? pair.wrapper : pair.token);
        address caller = _people[peopleSeed % 3];
        address receiver = _people[(peopleSeed / 3) % 3];
        uint256 has = given.balanceOf(caller);
        if (has == 0) return;
        // No more than a part, so that nobody runs dry.
        uint256 amount = 1 + amountSeed % (has / 8 + 1);
        uint256 minimum = minimumSeed % 2 == 0 ? amount / 4 + 1 : 1 + minimumSeed % (amount * 2);
        uint256[3] memory given0 = balancesOf(given);
        uint256[3] memory got0 = balancesOf(got);
        vm.prank(caller);
        given.approve(address(_router), amount);
        vm.prank(caller);
        (bool succeeded, bytes memory answer) =
            address(_router).call(encodeWay(way, pair.wrapper, pair.token, amount, receiver, minimum));
        if (!succeeded) {
            _tally.refusals++;
            bytes4 reason = bytes4(answer);
            if (
                reason == DepositRouter.SharesBelowMinimum.selector
                    || reason == DepositRouter.AssetsBelowMinimum.selector
            ) _tally.belowMinimum++;
            return;
        }
        _tally.done++;
        _doneBy[way]++;
        uint256 told = abi.decode(answer, (uint256));
        for (uint256 i = 0; i < 3; i++) {
            uint256 grown = got.balanceOf(_people[i]) - got0[i];
            if (_people[i] == receiver ? grown < minimum || grown != told : grown != 0) _minimumBroken = true;
            uint256 lost = given0[i] - given.balanceOf(_people[i]);
            if (_people[i] == caller ? lost > amount + ROUNDED || lost + ROUNDED < amount : lost != 0) {
                _othersMoved = true;
            }
        }
    }

    function check13() external view {
        vm.assertEq(_staked.sharesOf(address(_router)), _donated[address(_staked)], "staked shares");
        vm.assertEq(_lent.scaledBalanceOf(address(_router)), _donated[address(_lent)], "scaled aTokens");
        vm.assertEq(_open.balanceOf(address(_router)), _donated[address(_open)], "tokens");
        vm.assertEq(_told.balanceOf(address(_router)), _donated[address(_told)], "wrapped tokens");
        vm.assertEq(_wrapped.balanceOf(address(_router)) + _static.balanceOf(address(_router)), 0, "wrapped ones");
        vm.assertEq(_asset.balanceOf(address(_router)), 0, "assets");
        vm.assertEq(_staked.allowance(address(_router), address(_wrapped)), 0, "no approval is left");
        vm.assertEq(_lent.allowance(address(_router), address(_static)), 0, "no approval is left");
        vm.assertEq(_open.allowance(address(_router), address(_told)), 0, "no approval is left");
        vm.assertFalse(_minimumBroken, "at least the minimum goes to the receiver, and nobody else gets anything");
        vm.assertFalse(_othersMoved, "the amount is taken, and from the caller alone");
    }

    function readTally() external view returns (Tally memory, uint256 leastDone) {
        leastDone = type(uint256).max;
        for (uint256 i = 0; i < 5; i++) {
            if (_doneBy[Way(i)] < leastDone) leastDone = _doneBy[Way(i)];
        }
        return (_tally, leastDone);
    }

    /// @dev Of each way a published wrapper, or the one that is told.
    function pairOf(Way way, uint256 pairSeed) private view returns (Pair memory) {
        if (pairSeed % 2 == 0) return Pair(address(_told), address(_open));
        if (way == Way.Wrap || way == Way.Unwrap) return Pair(address(_wrapped), address(_staked));
        return Pair(address(_static), way == Way.Redeem ? address(_asset) : address(_lent));
    }

    function balancesOf(IERC20 token) private view returns (uint256[3] memory balances) {
        for (uint256 i = 0; i < 3; i++) {
            balances[i] = token.balanceOf(_people[i]);
        }
    }
}

abstract contract WrapRouterInvariantsSetUp is Targets {
    WrapRouterHandler internal handler;

    function setUp() public {
        handler = new WrapRouterHandler();
    }

    function target() internal view override returns (address) {
        return address(handler);
    }

    /// @dev Three in seven go through the router.
    function steps() internal view override returns (bytes4[] memory selectors) {
        selectors = new bytes4[](7);
        selectors[0] = handler.go.selector;
        selectors[1] = handler.go.selector;
        selectors[2] = handler.go.selector;
        selectors[3] = handler.move.selector;
        selectors[4] = handler.tell.selector;
        selectors[5] = handler.setFee.selector;
        selectors[6] = handler.donate.selector;
    }
}

/// @dev The number is that of INVARIANTS.md. It is checked after every step.
contract WrapRouterInvariantsTest is WrapRouterInvariantsSetUp {
    function invariant_13_theRouterKeepsNothingOfWhatIsWrappedAndNeverGivesLessThanTheMinimum() external view {
        handler.check13();
    }
}

contract WrapRouterHandlerTest is WrapRouterInvariantsSetUp {
    function test_theHandlerReachesEverything() external {
        draw(1000);
        (WrapRouterHandler.Tally memory tally, uint256 leastDone) = handler.readTally();
        vm.assertLe(100, tally.done, "done");
        vm.assertLe(10, leastDone, "each way");
        vm.assertLe(50, tally.refusals, "refusals");
        vm.assertLe(20, tally.belowMinimum, "below the minimum");
        vm.assertLe(50, tally.donations, "donations");
    }
}
