"""The scenario zh: a session in Chinese, where a token is a character or two and estimates must know that."""

from typing import Final

from qiming_tui.demo import ferry
from qiming_tui.demo.calls import CHECK, bash, edit, grep, listing, read, write
from qiming_tui.demo.turns import ALLOW
from qiming_tui.model.limits import Limits, Origin
from qiming_tui.provider.scenario import Call, Reply, Scenario, Turn

AGENTS: Final = """\
# 仓库规则

- 金额一律以分为单位，不用浮点数。
- 每次修改后运行 `python3 -B check.py`，必须输出“全部正确”。
- `日志/` 里的文件来自港务局，只读不改。
"""

README: Final = """\
# 岛际渡轮

北港到岛头航线的票价，供两个码头的售票机使用。

- `fares.py` 计算票价，单位是分。
- `日志/` 是港务局每周的导入记录，一周一个文件。
- `check.py` 检查票价。

四岁以下儿童应当免费乘船，但还没有实现。自行车始终收费。
"""

FARES: Final = '''\
"""岛际渡轮的票价，单位是分。"""

ADULT = 1240
BIKE = 310
DISCOUNTS = {"成人": 0, "老人": 25, "学生": 20, "儿童": 50}


def fare(kind: str, *, bike: bool = False) -> int:
    """一张票的价格；乘客类别未知时抛出 KeyError。"""
    price = ADULT * (100 - DISCOUNTS[kind]) // 100
    return price + BIKE if bike else price
'''

CHECK_TEXT: Final = '''\
"""检查票价；有错时以 1 结束。"""

import sys

from fares import DISCOUNTS, fare

wanted = {"成人": 1240, "老人": 930, "学生": 992, "儿童": 620, "婴儿": 0}
wrong = [kind for kind in DISCOUNTS if fare(kind) != wanted[kind]]
sys.stdout.reconfigure(encoding="utf-8")
print(f"票价：{len(DISCOUNTS)} 类乘客")
print("有错：" + "、".join(wrong) if wrong else "全部正确")
sys.exit(1 if wrong else 0)
'''

VESSELS: Final = {
    "Seeschwalbe": "海燕号",
    "Alte Liebe": "旧情号",
    "Nordlicht": "北光号",
    "Inselfee": "岛仙号",
}
LIMITS: Final = Limits(8_500, None, 3_000, Origin.ARGUMENT)


def week_log(number: int) -> str:
    """港务局一周的记录。"""
    lines = [f"信息：第 {number} 周的导入开始，来源是港务局，格式为第四版"]
    for sailing in ferry.week(number):
        delay = f"晚点 {sailing.late} 分钟" if sailing.late else "准点到达"
        lines.append(f"信息：{sailing.day} {sailing.departs} {VESSELS[sailing.vessel]}从北港开出，{delay}")
        if sailing.late > 25:
            lines.append("警告：晚点超过二十五分钟，已经在码头上通知了全部乘客")
    lines.append(f"信息：第 {number} 周的导入结束")
    return "\n".join(lines) + "\n"


def week_words(number: int) -> str:
    """一周的结论。"""
    worst = ferry.worst(number)
    return (
        f"第 {number} 周有 {ferry.late_count(number)} 班晚点超过 15 分钟，最严重的是 {worst.day} "
        f"{worst.departs} 的{VESSELS[worst.vessel]}，晚了 {worst.late} 分钟。"
    )


def _log(number: int) -> Call:
    return read(f"日志/第{number}周.log")


def _turns() -> tuple[Turn, ...]:
    total = sum(ferry.late_count(number) for number in (1, 2, 3))
    return (
        Turn(
            prompt="先看看这个项目，用两句话告诉我票价是怎么算的。",
            replies=(
                Reply(text="我先看目录结构。", calls=(listing(),)),
                Reply(text="票价在一个模块里。", calls=(read("README.md"), read("fares.py"))),
                Reply(
                    text="票价从成人票 12.40 元算起，按乘客类别打折：老人 25%，学生 20%，儿童 50%，"
                    "全部以分计算。带自行车的乘客最后再加 3.10 元，不打折。"
                ),
            ),
        ),
        Turn(
            prompt="四岁以下儿童应当免费，请实现并检查。",
            replies=(
                Reply(
                    text="先确认类别在哪里使用。",
                    reasoning="只要把婴儿的折扣设为百分之百，自行车费是在打折之后才加的，所以照样收费。",
                    calls=(grep("DISCOUNTS"), read("check.py")),
                ),
                Reply(
                    text="加一个折扣为 100% 的类别。",
                    calls=(edit("fares.py", '"儿童": 50}', '"儿童": 50, "婴儿": 100}'),),
                ),
                Reply(text="运行检查。", calls=(bash(CHECK),)),
                Reply(
                    text="完成：`fares.py` 里增加了“婴儿”类别，票价为零，自行车照样收费；检查输出“全部正确”。"
                ),
            ),
        ),
        Turn(
            prompt="第 1、2、3 周哪些班次晚点超过 15 分钟？导入记录里有。请给出每周的数目和最严重的一班。",
            replies=(
                Reply(text="逐周查看记录。", calls=(_log(1),)),
                Reply(text=week_words(1), calls=(_log(2),)),
                Reply(text=week_words(2), calls=(_log(3),)),
                Reply(text=f"{week_words(3)}三周合计 {total} 班。"),
            ),
        ),
        Turn(
            prompt="把你做的修改写进 变更.md。",
            replies=(
                Reply(text="只有一条。", calls=(write("变更.md", "# 变更\n\n- 四岁以下儿童免费乘船。\n"),)),
                Reply(text="`变更.md` 已写好。"),
            ),
        ),
    )


def _summary() -> Reply:
    lines = [
        "## 目标",
        "维护渡轮票价，并从港务局的导入记录里找出晚点超过 15 分钟的班次。",
        "",
        "## 要求",
        "- 金额以分为单位；修改后运行 `python3 -B check.py`，必须输出“全部正确”。",
        "- `日志/` 只读不改。",
        "",
        "## 发现",
        "- 票价 = 成人票 1240 分 ×（100 - 折扣）/ 100，自行车另加 310 分。",
        f"- {week_words(1)}",
        f"- {week_words(2)}",
        "",
        "## 已完成",
        "- `fares.py` 增加“婴儿”类别，折扣 100%，检查通过。",
        "- 下一步：查看第 3 周的记录，给出三周合计。",
        "",
        "## 相关文件",
        "- fares.py（已修改）、check.py、日志/第1周.log、日志/第2周.log",
    ]
    return Reply(text="\n".join(lines))


def zh() -> Scenario:
    """A Chinese session that fills its window and is summarised in Chinese."""
    return Scenario(
        name="zh",
        sentence="一次中文会话：窗口渐满、自动总结、继续工作 (a session in Chinese).",
        limits=LIMITS,
        allow=ALLOW,
        files=(
            ("AGENTS.md", AGENTS),
            ("README.md", README),
            ("check.py", CHECK_TEXT),
            ("fares.py", FARES),
            *((f"日志/第{number}周.log", week_log(number)) for number in (1, 2, 3)),
        ),
        turns=_turns(),
        summaries=(_summary(),),
        title="婴儿免费与晚点班次",
    )
