from ranktrial.api.comparing import compare as compare
from ranktrial.api.evaluating import evaluate as evaluate
from ranktrial.api.findings import Findings as Findings
from ranktrial.api.further_study import Plan as Plan
from ranktrial.api.further_study import power as power
from ranktrial.api.reading import read as read
from ranktrial.common.errors import UserError as UserError

__version__: str
